#include "godwit/engine/engine.h"

#include <doctest/doctest.h>

#include "godwit/engine/test_world.h"

namespace godwit::engine::test {
namespace {

using journal::Kind;
using Story = std::vector<std::string>;

dag::Attributes with_retries(std::uint32_t retries) {
  dag::Attributes attributes;
  attributes.retries = retries;
  return attributes;
}

TEST_CASE("a chain runs in order and its end is recorded") {
  World world;
  world.chain({world.node("a"), world.node("b"), world.node("c")});
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"a.1.job", "b.1.job", "c.1.job"});
  CHECK(world.journal.story({Kind::node_done, Kind::dag_ended}) ==
        Story{"node_done a.1", "node_done b.1", "node_done c.1", "dag_ended "});
}

TEST_CASE("an attempt is journalled before it is submitted") {
  World world;
  world.node("a");
  world.graph.freeze();
  world.journal.kill_at_commit = 1;
  CHECK_THROWS_AS(world.run(), Killed);
  CHECK(world.executor.accepted.empty());
}

TEST_CASE("an engine that was taken over from after its commit submits nothing") {
  World world;
  world.node("a");
  world.graph.freeze();
  world.journal.seized_at_commit = 1;
  CHECK_THROWS_AS(world.run(), Seized);
  CHECK(world.journal.story({Kind::submitting}) == Story{"submitting a.1"});
  CHECK(world.executor.accepted.empty());
}

TEST_CASE("the journal says what an attempt asks for and where its streams go, unless to the usual place") {
  World world;
  Diagnostics diagnostics;
  const dag::TemplateId named =
      world.graph.add_template({"named",
                                {std::make_shared<submit::Description>(submit::Description::parse(
                                    "executable = /bin/true\noutput = logs/$(JOB).txt\nerror = /var/log/x.err\n",
                                    {"t.sub", 1, 1}, diagnostics))}});
  const dag::TemplateId usual = world.graph.add_template(
      {"usual",
       {std::make_shared<submit::Description>(submit::Description::parse(
           "executable = /bin/true\noutput = runs/00c0ffee/logs/$(JOB).$(godwit_attempt).out\n", {"t.sub", 1, 1},
           diagnostics))}});
  dag::Run run;
  run.uuid = "00c0ffee";
  world.graph.add_node("a", dag::NodeKind::job, named, 0);
  world.graph.add_node("b", dag::NodeKind::job, usual, 0, 0, dag::kNoVars, world.graph.add_run(run));
  world.node("c");
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  Story told;
  for (const journal::Event& event : world.journal.events)
    if (event.kind == Kind::submitting) told.push_back(event.json);
  CHECK(told == Story{R"({"phase":"job","site":"here","stdout":"logs/a.txt","stderr":"/var/log/x.err"})",
                      R"({"phase":"job","site":"here"})", R"({"phase":"job","site":"here","memory_mb":100})"});
}

TEST_CASE("a failed node makes its descendants futile and leaves the others alone") {
  World world;
  world.chain({world.node("a"), world.node("b"), world.node("c")});
  world.node("other");
  world.graph.freeze();
  world.executor.plays["a"] = {{exit_with(3), {}}};
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.journal.story({Kind::node_failed, Kind::node_futile, Kind::node_done}) ==
        Story{"node_failed a.1", "node_futile b", "node_futile c", "node_done other.1"});
}

TEST_CASE("retries are spent by failures, not by checkpoints, evictions or losses") {
  World world;
  world.node("a", with_retries(1));
  world.graph.freeze();
  world.executor.plays["a"] = {{exit_with(85), {}},
                               {ended_as(jobs::Outcome::evicted), {}},
                               {exit_with(1), {}},
                               {ended_as(jobs::Outcome::lost), {}},
                               {exit_with(0), {}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted.back() == "a.5.job");
}

TEST_CASE("checkpoint exits that get nowhere end in failure, those that progress do not") {
  World world;
  world.train("stuck", "9");
  world.train("slow", "30");
  world.graph.freeze();
  for (int i = 0; i < 30; ++i) {
    world.executor.plays["stuck"].push_back({exit_with(85), {}});
    const std::string line = "{\"epoch\":" + std::to_string(i + 1) + "}";
    world.executor.plays["slow"].push_back({i < 29 ? exit_with(85) : exit_with(0), {line}});
  }
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.journal.story({Kind::node_failed, Kind::node_done}) ==
        Story{"node_failed stuck." + std::to_string(Plan::kMaxIdleContinuations + 1), "node_done slow.30"});
}

TEST_CASE("checkpoint exits that get nowhere end in failure across engines, and after whatever time each took") {
  World world;
  world.train("stuck", "9");
  world.graph.freeze();
  jobs::Ending ending = exit_with(85);
  std::uint32_t attempts = 0;
  SUBCASE("short ones, each under an engine of its own") {
    attempts = Plan::kMaxIdleContinuations + 1;
  }
  SUBCASE("long ones") {
    attempts = Plan::kMaxWithoutEpoch + 1;
    ending.use.wall_s = 3600;
  }
  for (std::uint32_t i = 0; i < 2 * attempts; ++i) world.executor.plays["stuck"].push_back({ending, {}});
  EngineOptions once;
  once.once = true;
  RunEnd end = RunEnd::once;
  for (std::uint32_t i = 0; i < 2 * attempts && end == RunEnd::once; ++i) end = world.run(once);
  CHECK(end == RunEnd::failed);
  CHECK(world.journal.story({Kind::node_failed}) == Story{"node_failed stuck." + std::to_string(attempts)});
}

TEST_CASE("exit 0 short of the last epoch is a failure, for a job that reports epochs") {
  World world;
  world.train("short", "5");
  world.train("whole", "5");
  world.train("silent", "5");
  world.graph.freeze();
  world.executor.plays["short"] = {{exit_with(0), {R"({"epoch":4,"loss":1.5})"}}};
  world.executor.plays["whole"] = {{exit_with(0), {R"({"epoch":5,"loss":1.5})", "not json"}}};
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.journal.story({Kind::node_failed}) == Story{"node_failed short.1"});
  CHECK(world.journal.story({Kind::epoch}).size() == 2);
}

TEST_CASE("of a job's metrics the lines of its own epochs count, and of others it is warned once") {
  World world;
  world.train("whole", "4", "3");
  world.train("foreign", "4", "3");
  world.graph.freeze();
  world.executor.plays["whole"] = {
      {exit_with(0),
       {R"({"epoch":1})", R"({"epoch":2})", R"({"epoch":1e99})", R"({"epoch":18446744073709551615})",
        R"({"epoch":3.0,"loss":2})", R"({"loss":1})", R"({"epoch":4,"loss":1})", R"({"epoch":5})"}}};
  world.executor.plays["foreign"] = {{exit_with(0), {R"({"epoch":1})", R"({"epoch":2})"}}};
  SUBCASE("by one engine") {
    CHECK(world.run() == RunEnd::failed);
  }
  SUBCASE("by engines that die") {
    for (int n = 1; n <= 8; ++n) {
      world.journal.kill_at_commit = 2;
      try {
        world.run();
      } catch (const Killed&) {
      }
      world.journal.forget_uncommitted();
    }
    world.journal.kill_at_commit = 0;
    CHECK(world.run() == RunEnd::failed);
  }
  CHECK(world.journal.story({Kind::epoch}) == Story{"epoch whole.1", "epoch whole.1", "epoch whole.1"});
  CHECK(world.journal.story({Kind::node_done, Kind::node_failed}).size() == 2);
  CHECK(world.journal.story({Kind::warning}).size() == 2);
  for (const journal::Event& event : world.journal.events) {
    if (event.kind == Kind::warning && event.node == "foreign")
      CHECK(event.json.find("foreign: its metrics tell of epoch 1, which it does not train") != std::string::npos);
    if (event.kind == Kind::node_failed)
      CHECK(event.json.find("unfinished: it reported other epochs than its own, epochs 3 to 4") != std::string::npos);
  }
}

TEST_CASE("the exit code that is not to be retried") {
  World world;
  dag::Attributes attributes = with_retries(5);
  attributes.unless_exit = 7;
  world.node("a", attributes);
  world.graph.freeze();
  world.executor.plays["a"] = {{exit_with(1), {}}, {exit_with(7), {}}};
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.executor.accepted == Story{"a.1.job", "a.2.job"});
}

TEST_CASE("memory grows after an attempt ran out of it, up to its limit") {
  World world;
  dag::Attributes attributes = with_retries(3);
  attributes.memory_escalation = dag::Escalation{2, 250};
  world.node("a", attributes);
  world.graph.freeze();
  for (int i = 0; i < 3; ++i) world.executor.plays["a"].push_back({ended_as(jobs::Outcome::out_of_memory), {}});
  CHECK(world.run() == RunEnd::succeeded);
  std::vector<std::uint64_t> asked;
  for (const char* attempt : {"a.1.job", "a.2.job", "a.3.job", "a.4.job"})
    asked.push_back(world.executor.specs[attempt].resources.memory_mb);
  CHECK(asked == std::vector<std::uint64_t>{100, 200, 250, 250});
}

TEST_CASE("scripts: PRE before, POST after, the POST script decides") {
  World world;
  dag::Attributes attributes;
  attributes.pre = dag::Script{"pre.sh", {"$JOB", "$RETRY/$MAX_RETRIES"}};
  attributes.post = dag::Script{"post.sh", {"$RETURN"}};
  world.node("a", attributes);
  world.graph.freeze();

  SUBCASE("a job that failed is saved by its POST script") {
    world.executor.plays["a"] = {{exit_with(4), {}}};
    CHECK(world.run() == RunEnd::succeeded);
    CHECK(world.scripts.accepted == Story{"a.1.pre", "a.1.post"});
    CHECK(world.scripts.specs["a.1.pre"].arguments == Story{"a", "0/0"});
    CHECK(world.scripts.specs["a.1.post"].arguments == Story{"4"});
  }
  SUBCASE("a POST script that fails fails the node") {
    world.scripts.plays["a/post"] = {{exit_with(1), {}}};
    CHECK(world.run() == RunEnd::failed);
  }
  SUBCASE("a PRE script that fails keeps the job from running") {
    world.scripts.plays["a/pre"] = {{exit_with(1), {}}};
    CHECK(world.run() == RunEnd::failed);
    CHECK(world.executor.accepted.empty());
  }
  SUBCASE("a POST script that was lost runs again, the job does not") {
    world.scripts.plays["a/post"] = {{ended_as(jobs::Outcome::lost), {}}};
    CHECK(world.run() == RunEnd::succeeded);
    CHECK(world.executor.accepted == Story{"a.1.job"});
    CHECK(world.scripts.accepted == Story{"a.1.pre", "a.1.post", "a.2.post"});
  }
}

TEST_CASE("no more jobs at once than slots, once jobs are not very short") {
  World world;
  for (int i = 0; i < 40; ++i) {
    world.node("n" + std::to_string(i));
    jobs::Ending ending = exit_with(0);
    ending.use.wall_s = 10;
    world.executor.plays["n" + std::to_string(i)] = {{ending, {}}};
  }
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.most_at_once <= world.slots);
}

TEST_CASE("higher priorities first, a category no further than its limit") {
  World world;
  world.slots = 1;
  dag::Attributes high;
  high.priority = 10;
  world.node("low");
  world.node("high", high);
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"high.1.job", "low.1.job"});

  World limited;
  limited.slots = 8;
  dag::Attributes category;
  category.category = "gpu";
  for (const char* name : {"a", "b", "c", "d"}) limited.node(name, category);
  limited.graph.set_category_limit("gpu", 1);
  limited.graph.freeze();
  CHECK(limited.run() == RunEnd::succeeded);
  CHECK(limited.executor.most_at_once == 1);

  World limited_in_all;
  limited_in_all.slots = 8;
  limited_in_all.graph.max_jobs = 2;
  for (const char* name : {"a", "b", "c", "d"}) limited_in_all.node(name);
  limited_in_all.graph.freeze();
  CHECK(limited_in_all.run() == RunEnd::succeeded);
  CHECK(limited_in_all.executor.most_at_once == 2);
}

TEST_CASE("empty nodes are done without an executor") {
  World world;
  world.chain({world.node("a", {}, dag::NodeKind::noop), world.node("b"), world.node("c", {}, dag::NodeKind::noop)});
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"b.1.job"});
}

TEST_CASE("while somebody objects no job begins, what runs ends, and it goes on when nobody does") {
  World world;
  world.chain({world.node("a"), world.node("b"), world.node("c")});
  world.graph.freeze();
  int turns = 0;
  world.observer.on_event_do = [&](const journal::Event& event) {
    if (event.kind == Kind::node_done && event.node == "a") world.objection = "train.sh was edited";
  };
  world.observer.on_turn_do = [&] {
    if (world.objection.empty() || ++turns < 20) return;
    CHECK(world.disk.note == "train.sh was edited");
    CHECK(world.journal.story({Kind::submitting}).size() <= 2);
    world.objection.clear();
  };
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.observer.saw_pause);
  CHECK(world.journal.story({Kind::paused}).size() == 1);
  CHECK(world.journal.story({Kind::unpaused}).size() == 1);
  CHECK(world.disk.note.empty());
}

TEST_CASE("a full disk pauses, spends no retry, and loses nothing") {
  World world;
  world.chain({world.node("a"), world.node("b")});
  world.graph.freeze();
  SUBCASE("found by a job") {
    world.executor.plays["a"] = {{ended_as(jobs::Outcome::disk_full), {}}};
    world.disk.free = 0;
    int turns = 0;
    world.observer.on_turn_do = [&] {
      if (++turns == 10) world.disk.free = 1u << 30;
    };
    CHECK(world.run() == RunEnd::succeeded);
    CHECK(world.journal.story({Kind::paused, Kind::unpaused}) == Story{"paused ", "unpaused "});
  }
  SUBCASE("over by the time the job that met it has ended") {
    world.executor.plays["a"] = {{exit_with(1), {}}};
    world.executor.holds = true;
    world.disk.free = 0;
    int turns = 0;
    world.observer.on_turn_do = [&] {
      if (++turns != 10) return;
      world.disk.free = 1u << 30;
      world.executor.holds = false;
    };
    CHECK(world.run() == RunEnd::succeeded);
  }
  SUBCASE("a quota, which does not show in what is free") {
    world.executor.plays["a"] = {{ended_as(jobs::Outcome::disk_full), {}}};
    world.disk.quota = true;
    int turns = 0;
    world.observer.on_turn_do = [&] {
      if (++turns == 10) world.disk.quota = false;
      if (turns == 5) CHECK(world.disk.note == "the quota on /scratch is used up (1 GB free there for others)");
    };
    CHECK(world.run() == RunEnd::succeeded);
    for (const journal::Event& event : world.journal.events)
      if (event.kind == Kind::paused)
        CHECK(Json::parse(event.json) == Json{{"filesystem", "/scratch"},
                                              {"free_bytes", 1u << 30},
                                              {"quota", true},
                                              {"reason", world.disk.last_note}});
    CHECK(world.disk.note.empty());
  }
  SUBCASE("found by the journal") {
    world.journal.full_commits = 5;
    CHECK(world.run() == RunEnd::succeeded);
    CHECK(world.journal.story({Kind::paused, Kind::unpaused}) == Story{"paused ", "unpaused "});
  }
  CHECK(world.observer.saw_pause);
  CHECK(world.journal.story({Kind::node_done}).size() == 2);
}

TEST_CASE("where all is done and recorded, nothing more is written") {
  World world;
  world.node("a");
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  const std::size_t events = world.journal.events.size();
  world.journal.full_commits = 1000;  // so that a full disk keeps nobody waiting
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.journal.events.size() == events);
  CHECK(world.journal.full_commits == 1000);
}

TEST_CASE("stopping sends running jobs away, and the next run goes on") {
  World world;
  world.chain({world.node("a"), world.node("b")});
  world.graph.freeze();
  world.executor.holds = true;
  world.observer.on_turn_do = [&] { world.requests = {{Request::What::stop, {}}}; };
  CHECK(world.run() == RunEnd::stopped);
  CHECK(world.executor.canceled.front() == "a.1.job");

  world.executor.holds = false;
  world.observer.on_turn_do = nullptr;
  world.requests.clear();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"a.1.job", "a.2.job", "b.1.job"});
}

TEST_CASE("how runs will be compared is journalled with the definition, and again when it has changed") {
  World world;
  world.chain({world.node("a"), world.node("b")});
  world.graph.freeze();
  world.executor.holds = true;
  world.observer.on_turn_do = [&] { world.requests = {{Request::What::stop, {}}}; };
  const Json first{{"metric", "val_loss"}, {"margin", 0.02}};
  const Json changed{{"metric", "val_loss"}, {"margin", 0.5}};
  for (const Json& declared : {first, first, changed, Json::object()}) {
    EngineOptions options;
    options.declared = declared;
    CHECK(world.run(options) == RunEnd::stopped);
  }
  std::vector<Json> journalled;
  for (const journal::Event& event : world.journal.events)
    if (event.kind == Kind::declared) journalled.push_back(Json::parse(event.json));
  CHECK(journalled == std::vector<Json>{first, changed, Json::object()});
}

TEST_CASE("a service node lives as long as the Dag") {
  World world;
  world.node("watcher", {}, dag::NodeKind::service);
  world.node("a");
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"watcher.1.service", "a.1.job"});
}

TEST_CASE("step by step, as from cron") {
  World world;
  world.chain({world.node("a"), world.node("b")});
  world.graph.freeze();
  EngineOptions once;
  once.once = true;
  world.executor.holds = true;
  CHECK(world.run(once) == RunEnd::once);
  CHECK(world.executor.accepted == Story{"a.1.job"});
  CHECK(world.run(once) == RunEnd::once);  // it is still running: nothing new
  CHECK(world.executor.accepted == Story{"a.1.job"});
  world.executor.holds = false;
  CHECK(world.run(once) == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"a.1.job", "b.1.job"});
}

TEST_CASE("retry resets failed nodes and revives their descendants") {
  World world;
  world.chain({world.node("a"), world.node("b")});
  world.graph.freeze();
  world.executor.plays["a"] = {{exit_with(1), {}}};
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.run() == RunEnd::failed);  // by itself it stays failed
  world.requests = {{Request::What::retry, {"a"}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.accepted == Story{"a.1.job", "a.2.job", "b.1.job"});
}

TEST_CASE("another Dag's journal is refused") {
  World world;
  world.node("a");
  world.graph.freeze();
  CHECK(world.run() == RunEnd::succeeded);
  World other;
  other.node("b");
  other.graph.freeze();
  other.journal.events = world.journal.events;
  CHECK_THROWS_AS(other.run(), InputError);
}

// Worlds that share one journal: an experiment before and after an edit.
EngineOptions edit_of(std::uint32_t revision) {
  EngineOptions options;
  options.edit_of = revision;
  return options;
}

TEST_CASE("an edited Dag goes on: what is done stays done, what is new runs, what is gone does not") {
  World before;
  before.chain({before.node("a"), before.node("b")});
  before.node("gone");
  before.graph.freeze();
  CHECK(before.run() == RunEnd::succeeded);

  World after;
  after.chain({after.node("new"), after.node("a"), after.node("b"), after.node("c")});
  after.graph.freeze();
  after.journal.events = before.journal.events;
  CHECK_THROWS_AS(after.run(edit_of(3)), InputError);  // it was of another revision
  after.journal.forget_uncommitted();
  CHECK(after.run(edit_of(0)) == RunEnd::succeeded);
  CHECK(after.executor.accepted == Story{"new.1.job", "c.1.job"});
  CHECK(after.run() == RunEnd::succeeded);
  CHECK(after.run(edit_of(1)) == RunEnd::succeeded);
  CHECK(after.executor.accepted.size() == 2);
}

TEST_CASE("what runs of a node that an edit took away is told to leave, and its end is recorded") {
  World before;
  before.node("stays");
  before.node("goes");
  before.graph.freeze();
  before.executor.holds = true;
  EngineOptions once;
  once.once = true;
  CHECK(before.run(once) == RunEnd::once);

  World after;
  after.node("stays");
  after.graph.freeze();
  after.journal.events = before.journal.events;
  after.executor = before.executor;
  after.observer.on_turn_do = [&] {
    if (!after.executor.canceled.empty()) after.executor.holds = false;
  };
  CHECK(after.run(edit_of(0)) == RunEnd::succeeded);
  CHECK(after.executor.attached == Story{"stays.1.job", "goes.1.job"});
  CHECK(after.executor.canceled == Story{"goes.1.job"});
  CHECK(after.journal.story({Kind::attempt_ended}) == Story{"attempt_ended goes.1", "attempt_ended stays.1"});
  CHECK(after.journal.story({Kind::node_done}) == Story{"node_done stays.1"});
}

TEST_CASE("a new node below a failed one is futile, and is revived with it") {
  World before;
  before.node("a");
  before.graph.freeze();
  before.executor.plays["a"] = {{exit_with(1), {}}};
  CHECK(before.run() == RunEnd::failed);

  World after;
  after.chain({after.node("a"), after.node("b")});
  after.graph.freeze();
  after.journal.events = before.journal.events;
  CHECK(after.run(edit_of(0)) == RunEnd::failed);
  CHECK(after.journal.story({Kind::node_futile}) == Story{"node_futile b"});
  after.requests = {{Request::What::retry, {"a"}}};
  CHECK(after.run() == RunEnd::succeeded);
  CHECK(after.executor.accepted == Story{"a.2.job", "b.1.job"});
}

TEST_CASE("a POST script that an edit took away leaves the job's own end") {
  dag::Attributes judged;
  judged.post = dag::Script{"/bin/true", {}};
  World before;
  before.node("a", judged);
  before.graph.freeze();
  before.scripts.holds = true;
  EngineOptions once;
  once.once = true;
  CHECK(before.run(once) == RunEnd::once);
  CHECK(before.run(once) == RunEnd::once);

  World after;
  after.node("a");
  after.graph.freeze();
  after.journal.events = before.journal.events;
  after.executor = before.executor;
  after.scripts = before.scripts;
  CHECK(after.run(edit_of(0)) == RunEnd::succeeded);
  CHECK(after.executor.accepted == Story{"a.1.job"});
  CHECK(after.scripts.canceled == Story{"a.1.post"});
}

// The engine is killed in every one of its commits in turn; each time another engine takes over. Whatever the instant,
// every attempt runs once and the Dag comes out the same.
TEST_CASE("killed at any commit, nothing is lost and nothing runs twice") {
  for (int instant = 1; instant < 40; ++instant) {
    CAPTURE(instant);
    World world;
    dag::Attributes scripted = with_retries(1);
    scripted.pre = dag::Script{"pre.sh", {}};
    scripted.post = dag::Script{"post.sh", {}};
    const auto a = world.node("a", scripted), b = world.node("b", with_retries(2)), c = world.node("c"),
               d = world.node("d");
    world.chain({a, b, d});
    world.chain({a, c, d});
    world.graph.freeze();
    world.executor.plays["b"] = {{exit_with(1), {}}, {exit_with(85), {}}, {exit_with(0), {R"({"epoch":1})"}}};
    world.journal.kill_at_commit = instant;
    RunEnd end = RunEnd::failed;
    try {
      end = world.run();
    } catch (const Killed&) {
      world.journal.forget_uncommitted();
      end = world.run();
    }
    CHECK(end == RunEnd::succeeded);
    std::vector<std::string> accepted = world.executor.accepted;
    std::sort(accepted.begin(), accepted.end());
    CHECK(accepted == Story{"a.1.job", "b.1.job", "b.2.job", "b.3.job", "c.1.job", "d.1.job"});
    CHECK(world.scripts.accepted == Story{"a.1.pre", "a.1.post"});
    CHECK(world.journal.story({Kind::node_done}).size() == 4);
    CHECK(world.journal.story({Kind::epoch}).size() == 1);
  }
}

// The same while an edit is taken in: before it, "goes" and "a" run; after it there is no "goes", and "b" and "new".
TEST_CASE("killed at any commit of an edit, nothing is lost and nothing runs twice") {
  World before;
  before.node("goes");
  before.node("a");
  before.graph.freeze();
  before.executor.holds = true;
  EngineOptions once;
  once.once = true;
  CHECK(before.run(once) == RunEnd::once);
  for (int instant = 1; instant < 20; ++instant) {
    CAPTURE(instant);
    World world;
    world.chain({world.node("a"), world.node("b")});
    world.node("new");
    world.graph.freeze();
    world.journal.events = before.journal.events;
    world.executor = before.executor;
    world.executor.holds = false;
    world.journal.kill_at_commit = instant;
    RunEnd end = RunEnd::failed;
    try {
      end = world.run(edit_of(0));
    } catch (const Killed&) {
      world.journal.forget_uncommitted();
      const bool taken_in = world.journal.events.size() > before.journal.events.size();
      end = world.run(taken_in ? EngineOptions{} : edit_of(0));
    }
    CHECK(end == RunEnd::succeeded);
    std::vector<std::string> accepted = world.executor.accepted;
    std::sort(accepted.begin(), accepted.end());
    CHECK(accepted == Story{"a.1.job", "b.1.job", "goes.1.job", "new.1.job"});
    CHECK(world.journal.story({Kind::attempt_ended}).size() == 4);
    CHECK(world.journal.story({Kind::node_done}).size() == 3);
    CHECK(world.journal.story({Kind::dag_ended}).size() == 1);
  }
}

}  // namespace
}  // namespace godwit::engine::test
