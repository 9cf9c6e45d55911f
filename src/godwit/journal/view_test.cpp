#include "godwit/journal/view.h"

#include <doctest/doctest.h>

#include "godwit/journal/stitch.h"
#include "godwit/journal/story.h"
#include "godwit/store/test_folder.h"

namespace godwit::journal {
namespace {

View view_of(const Story& story) {
  View view;
  for (const Event& event : story.events) view.apply(event);
  return view;
}

NodeState state_of(const View& view, std::string_view node) {
  return view.nodes()[view.find_node(node).value()].state;
}

// "waiting 1, done 2": the states that are not empty.
std::string counts_text(const Counts& counts) {
  std::string out;
  for (std::size_t i = 0; i < kNodeStates; ++i)
    if (counts.of[i] != 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", to_string(static_cast<NodeState>(i)), counts.of[i]);
  return out;
}

Story two_runs() {
  Story story;
  return story.dag("sweep").site("delta").site("expanse").run(0, {"delta", "expanse"}).run(1, {"expanse", "delta"});
}

TEST_CASE("the definition") {
  const View view = view_of(two_runs());
  CHECK(view.dag().name == "sweep");
  REQUIRE(view.runs().size() == 2);
  const Run& run = view.runs()[1];
  CHECK(run.number == 1);
  CHECK(run.uuid == "a0000001");
  CHECK(run.seed == 1001);
  CHECK(run.epochs == 10);
  CHECK(run.values == std::vector<std::pair<std::string, std::string>>{{"alpha", "0.1"}});
  CHECK(run.nodes.size() == 2);
  const Node& last = view.nodes()[view.find_node("run1-train_epoch1").value()];
  CHECK(last.first_epoch == 6);
  CHECK(last.last_epoch == 10);
  CHECK(view.site_name(last.site) == "delta");
  CHECK(view.find_node("run2-train_epoch0") == std::nullopt);
  for (const char* name : {"1", "run1", "a0000001"}) CHECK(view.find_run(name) == 1);
  for (const char* name : {"2", "run", "", "run1-train_epoch0", "1x", "-1"}) CHECK(view.find_run(name) == std::nullopt);
}

TEST_CASE("an edited definition keeps the nodes and runs it names again, orphans the others and adds the new") {
  Story story = two_runs();
  story.engine().place("run0-train_epoch0", "delta").queue("run0-train_epoch0", 1, "delta");
  story.start("run0-train_epoch0", 1, "delta").succeed("run0-train_epoch0");
  // Run 0 goes on for a job more, at another site than it was begun; run 1 goes; run 2 comes.
  story.redefine("sweep", 4).site("delta").site("anvil").run(0, {"anvil", "anvil", "anvil"}).run(2, {"anvil"});
  View view = view_of(story);
  CHECK(view.dag().revision == 1);
  CHECK(state_of(view, "run0-train_epoch0") == NodeState::done);
  CHECK(view.site_name(view.nodes()[*view.find_node("run0-train_epoch0")].site) == "delta");
  CHECK(state_of(view, "run0-train_epoch1") == NodeState::ready);
  CHECK(view.site_name(view.nodes()[*view.find_node("run0-train_epoch1")].site) == "anvil");
  CHECK(state_of(view, "run0-train_epoch2") == NodeState::waiting);
  CHECK(state_of(view, "run2-train_epoch0") == NodeState::ready);
  CHECK(counts_text(view.counts()) == "waiting 1, ready 2, done 1");
  REQUIRE(view.runs().size() == 3);
  CHECK(view.runs()[0].nodes.size() == 3);
  CHECK(view.runs()[0].epochs == 15);
  CHECK_FALSE(view.runs()[0].orphaned);
  CHECK(view.runs()[1].orphaned);
  CHECK(view.nodes()[*view.find_node("run1-train_epoch0")].orphaned);
  CHECK(view.find_run("2") == 2);
  const NodeIndex last = *view.find_node("run0-train_epoch2");
  REQUIRE(view.parents(last).size() == 1);
  CHECK(view.name_of(view.parents(last)[0]) == "run0-train_epoch1");
  // What an orphan still tells changes no count; and it may come back.
  story.now += 1;
  story.start("run1-train_epoch0", 1, "expanse").succeed("run1-train_epoch0");
  CHECK(counts_text(view_of(story).counts()) == "waiting 1, ready 2, done 1");
  story.redefine("sweep", 4, 2).site("delta").site("expanse").run(0, {"delta", "expanse"}).run(1, {"expanse", "delta"});
  view = view_of(story);
  CHECK(counts_text(view.counts()) == "ready 2, done 2");
  CHECK_FALSE(view.runs()[1].orphaned);
  CHECK(view.runs()[2].orphaned);
  CHECK(view.progress(0, false).done == 10);
}

TEST_CASE("a node's way from waiting to done, and its child's") {
  Story story = two_runs();
  const std::string first = "run0-train_epoch0";
  const std::string second = "run0-train_epoch1";
  View view = view_of(story);
  CHECK(state_of(view, first) == NodeState::ready);
  CHECK(state_of(view, second) == NodeState::waiting);
  CHECK(view.children(0).size() == 1);
  CHECK(view.parents(1)[0] == 0);
  CHECK(view.parents(0).empty());
  story.engine().place(first, "delta").queue(first, 1, "delta");
  CHECK(state_of(view_of(story), first) == NodeState::queued);
  story.start(first, 1, "delta");
  CHECK(state_of(view_of(story), first) == NodeState::active);
  story.succeed(first);
  view = view_of(story);
  CHECK(state_of(view, first) == NodeState::done);
  CHECK(state_of(view, second) == NodeState::ready);
  CHECK(counts_text(view.counts()) == "waiting 1, ready 2, done 1");
  CHECK(counts_text(view.sites()[0].counts) == "waiting 1, done 1");
  CHECK(view.counts().total() == 4);
  const std::vector<AttemptIndex> attempts = view.attempts_of(0);
  REQUIRE(attempts.size() == 1);  // queue() and start() told of the same one
  const Attempt& attempt = view.attempts()[attempts[0]];
  CHECK(view.text(attempt.outcome) == "exited");
  CHECK(view.text(attempt.host) == "login1");
  CHECK(attempt.peak_memory_kb == 204'800);
  CHECK(attempt.asked_memory_mb == 1024);
  CHECK(attempt.ended == story.now);
}

TEST_CASE("a failure, what it makes futile, and a reset") {
  Story story = two_runs();
  story.engine().start("run0-train_epoch0", 1, "delta").end("run0-train_epoch0", 1, "exited", {{"exit_code", 3}});
  story.add(Kind::node_failed, "run0-train_epoch0", 1, {{"reason", "exit code 3"}});
  story.add(Kind::node_futile, "run0-train_epoch1", 0, {{"because", "run0-train_epoch0"}});
  story.add(Kind::dag_ended, "", 0, {{"success", false}});
  View view = view_of(story);
  CHECK(counts_text(view.counts()) == "waiting 1, ready 1, failed 1, futile 1");
  CHECK(view.nodes()[1].because == 0);
  CHECK(view.text(view.nodes()[0].reason) == "exit code 3");
  CHECK(view.ended().has_value());
  story.add(Kind::node_reset, "run0-train_epoch0", 1, {{"by", "retry"}});
  story.add(Kind::node_reset, "run0-train_epoch1", 0, {{"by", "retry"}});
  view = view_of(story);
  CHECK(state_of(view, "run0-train_epoch0") == NodeState::ready);
  CHECK(state_of(view, "run0-train_epoch1") == NodeState::waiting);
  CHECK_FALSE(view.ended().has_value());
}

TEST_CASE("a node that was done and is reset takes its children's readiness back") {
  Story story = two_runs();
  story.start("run0-train_epoch0", 1, "delta").succeed("run0-train_epoch0");
  story.add(Kind::node_reset, "run0-train_epoch0", 1, {{"by", "retry"}});
  CHECK(state_of(view_of(story), "run0-train_epoch1") == NodeState::waiting);
}

TEST_CASE("attempts and phases are kept apart") {
  Story story = two_runs();
  const std::string node = "run0-train_epoch0";
  story.start(node, 1, "delta", "pre").end(node, 1, "exited", {{"phase", "pre"}});
  story.start(node, 1, "delta").end(node, 1, "evicted", {{"retry", "continued"}});
  story.place(node, "expanse").start(node, 2, "expanse");
  const View view = view_of(story);
  std::vector<std::string> told;
  for (const AttemptIndex i : view.attempts_of(0)) {
    const Attempt& a = view.attempts()[i];
    told.push_back(
        fmt::format("{} {} {} {}", a.number, view.text(a.phase), view.site_name(a.site), view.text(a.outcome)));
  }
  CHECK(told == std::vector<std::string>{"1 pre delta exited", "1 job delta evicted", "2 job expanse "});
  CHECK(view.nodes()[0].attempts == 2);
  CHECK(view.site_name(view.site_path(view.runs()[0])[0]) == "expanse");
}

TEST_CASE("a hold script runs beside its job; a service beside the Dag") {
  Story story = two_runs();
  const std::string node = "run0-train_epoch0";
  story.queue(node, 1, "delta").start(node, 1, "", "hold").end(node, 1, "exited", {{"phase", "hold"}});
  CHECK(state_of(view_of(story), node) == NodeState::queued);
  story.define({{"tensorboard", "service", "", "delta", 0, 0}}, {});
  story.engine().start("tensorboard", 1, "delta", "service");
  const View view = view_of(story);
  CHECK(state_of(view, "tensorboard") == NodeState::active);
  CHECK(counts_text(view.counts()) == "waiting 2, ready 1, queued 1");
  CHECK(view.progress(story.now, true).total == 20);
}

TEST_CASE("the engine: sessions, pauses, warnings") {
  Story story = two_runs();
  CHECK(view_of(story).engine().started == 0);
  story.engine().wait(10).add(Kind::paused, "", 0, {{"reason", "disk full"}});
  View view = view_of(story);
  CHECK(view.engine().pid == 4711);
  CHECK(view.engine().paused->text == "disk full");
  story.add(Kind::unpaused).add(Kind::warning, "", 0, {{"message", "beware"}}).wait(1000).engine(true);
  view = view_of(story);
  CHECK_FALSE(view.engine().paused);
  CHECK(view.warnings()[0].text == "beware");
  CHECK(view.engine().earlier_sessions == 10'000'000);  // the time in which no engine ran does not count
  CHECK_FALSE(view.engine().stopped);
  story.wait(5).add(Kind::engine_stopped, "", 0, {{"reason", "interrupted"}});
  view = view_of(story);
  CHECK(view.engine().stopped == "interrupted");
  CHECK(view.engine().earlier_sessions == 15'000'000);
}

TEST_CASE("progress and the time that remains") {
  Story story = two_runs();
  story.engine().start("run0-train_epoch0", 1, "delta");
  CHECK(view_of(story).progress(story.now, true).remaining_s == std::nullopt);
  story.wait(50).succeed("run0-train_epoch0").start("run0-train_epoch1", 1, "expanse");
  Progress progress = view_of(story).progress(story.now, true);
  CHECK(progress.total == 20);
  CHECK(progress.done == 5);
  CHECK(progress.remaining_s.value() == doctest::Approx(150));
  CHECK(view_of(story).progress(story.now, false).remaining_s == std::nullopt);
  story.epoch("run0-train_epoch1", 1, 6, 0.5).epoch("run0-train_epoch1", 1, 7, 0.4);
  View view = view_of(story);
  CHECK(view.progress(story.now, true).done == 7);
  CHECK(view.epochs_done(view.runs()[0]) == 7);
  story.add(Kind::node_failed, "run0-train_epoch1", 1, {{"reason", "x"}});
  progress = view_of(story).progress(story.now, true);
  CHECK(progress.done == 5);
  CHECK(progress.remaining_s.value() == doctest::Approx(100));  // what failed is not to come
}

TEST_CASE("events that say less, other or unknown things are taken as far as they go") {
  Story story = two_runs();
  const char* node = "run0-train_epoch0";
  for (const Kind kind :
       {Kind::placed, Kind::submitting, Kind::queued, Kind::active, Kind::epoch, Kind::attempt_ended, Kind::node_failed,
        Kind::node_futile, Kind::dag, Kind::site, Kind::run, Kind::nodes, Kind::warning, Kind::engine_started,
        Kind::engine_stopped, Kind::paused, Kind::request, Kind::dag_ended}) {
    for (const char* json : {"", "{}", "{", "[1]", "null", R"({"site":1,"phase":[],"outcome":{},"exit_code":"x",
         "epoch":"no","values":3,"name":null,"nodes":7,"because":"nobody","epochs":-1,"number":"n"})"}) {
      story.add(kind, node, 1);
      story.events.back().json = json;
      story.add(kind, "no such node", 1);
      story.events.back().json = json;
    }
  }
  const View view = view_of(story);
  CHECK(view.nodes().size() == 4);
  CHECK(view.counts().total() == 4);
}

TEST_CASE("a view follows a journal") {
  const store::TestFolder folder;
  const std::string path = folder / "journal.db";
  Story story = two_runs();
  const auto journal = Journal::open(path);
  const auto append = [&](std::size_t from) {
    for (std::size_t i = from; i < story.events.size(); ++i) journal->append(story.events[i]);
    REQUIRE(journal->commit());
  };
  append(0);
  const auto reader = Reader::open(path);
  View view;
  CHECK(view.update(*reader) == story.events.size());
  CHECK(view.update(*reader) == 0);
  const std::size_t before = story.events.size();
  story.start("run0-train_epoch0", 1, "delta").succeed("run0-train_epoch0");
  append(before);
  CHECK(view.update(*reader) == story.events.size() - before);
  CHECK(state_of(view, "run0-train_epoch0") == NodeState::done);
  CHECK(view.last_seq() == static_cast<std::int64_t>(story.events.size()));
}

// "epoch:loss@site/attempt" of each epoch, with "?" where provisional.
std::vector<std::string> stitched(const Story& story) {
  const View view = view_of(story);
  std::vector<std::string> out;
  for (const EpochMetrics& e : stitch(view, 0))
    out.push_back(fmt::format("{}:{}@{}/{}{}", e.epoch, e.metrics["val_loss"].get<double>(), view.site_name(e.site),
                              e.attempt, e.provisional ? "?" : ""));
  return out;
}

TEST_CASE("a run's metrics are stitched by epoch") {
  Story story = two_runs();
  const std::string first = "run0-train_epoch0";
  const std::string second = "run0-train_epoch1";
  story.start(first, 1, "delta");
  SUBCASE("over the jobs of a run") {
    story.epoch(first, 1, 1, 0.9).epoch(first, 1, 5, 0.5).succeed(first);
    story.start(second, 1, "expanse").epoch(second, 1, 6, 0.4);
    CHECK(stitched(story) == std::vector<std::string>{"1:0.9@delta/1", "5:0.5@delta/1", "6:0.4@expanse/1"});
  }
  SUBCASE("a continued attempt's epochs stay where the next does not repeat them") {
    story.epoch(first, 1, 1, 0.9).epoch(first, 1, 2, 0.8).end(first, 1, "evicted", {{"retry", "continued"}});
    story.start(first, 2, "expanse").epoch(first, 2, 2, 0.79).epoch(first, 2, 3, 0.7);
    CHECK(stitched(story) == std::vector<std::string>{"1:0.9@delta/1", "2:0.79@expanse/2", "3:0.7@expanse/2"});
  }
  SUBCASE("a failed attempt's epochs give way, also to earlier ones") {
    story.epoch(first, 1, 1, 0.9).epoch(first, 1, 2, 0.8).end(first, 1, "evicted", {{"retry", "continued"}});
    story.start(first, 2, "expanse").epoch(first, 2, 2, 0.1).epoch(first, 2, 3, 0.2);
    story.end(first, 2, "signaled", {{"signal", 11}, {"retry", "none"}});
    CHECK(stitched(story) == std::vector<std::string>{"1:0.9@delta/1", "2:0.8@delta/1", "3:0.2@expanse/2?"});
  }
  SUBCASE("an exit code other than 0 is a failure") {
    story.epoch(first, 1, 1, 0.9).end(first, 1, "exited", {{"exit_code", 1}, {"retry", "retried"}});
    CHECK(stitched(story) == std::vector<std::string>{"1:0.9@delta/1?"});
  }
  SUBCASE("the last line of one attempt wins") {
    story.epoch(first, 1, 1, 0.9).epoch(first, 1, 1, 0.8);
    CHECK(stitched(story) == std::vector<std::string>{"1:0.8@delta/1"});
  }
}

TEST_CASE("seconds of an epoch: what the job says, else what passed") {
  Story story = two_runs();
  const std::string node = "run0-train_epoch0";
  story.start(node, 1, "delta").wait(3).epoch(node, 1, 1, 0.9).wait(4).epoch(node, 1, 2, 0.8);
  story.add(Kind::epoch, node, 1, {{"epoch", 3}, {"seconds", 1.25}});
  const std::vector<EpochMetrics> epochs = stitch(view_of(story), 0);
  REQUIRE(epochs.size() == 3);
  CHECK(epochs[0].seconds == 3.0);
  CHECK(epochs[1].seconds == 4.0);
  CHECK(epochs[2].seconds == 1.25);
  CHECK_FALSE(epochs[0].metrics.contains("_offset"));
}

TEST_CASE("evaluation jobs have a series of their own") {
  Story story = two_runs();
  story.define({{"run0-eval_epoch1", "evaluate", Story::uuid_of(0), "delta", 1, 5}}, {{0, 4}});
  story.start("run0-eval_epoch1", 1, "delta");
  story.add(Kind::epoch, "run0-eval_epoch1", 1, {{"spearman", 0.7}});
  const View view = view_of(story);
  CHECK(stitch(view, 0).empty());
  const std::vector<EpochMetrics> scores = stitch(view, 0, "evaluate");
  REQUIRE(scores.size() == 1);
  CHECK(scores[0].epoch == 5);  // its checkpoint's
  CHECK(scores[0].metrics["spearman"] == 0.7);
}

TEST_CASE("an evaluation's own epochs do not count, and its parent's say which checkpoint it scored") {
  Story story = two_runs();
  story.define({{"run0-eval_epoch1", "evaluate", Story::uuid_of(0), "delta", 0, 0}}, {{0, 4}});
  story.start("run0-eval_epoch1", 1, "delta");
  for (const double score : {0.1, 0.7})
    story.add(Kind::epoch, "run0-eval_epoch1", 1, {{"epoch", score * 10}, {"spearman", score}});
  const std::vector<EpochMetrics> scores = stitch(view_of(story), 0, "evaluate");
  REQUIRE(scores.size() == 1);
  CHECK(scores[0].epoch == 5);
  CHECK(scores[0].metrics["spearman"] == 0.7);
}

}  // namespace
}  // namespace godwit::journal
