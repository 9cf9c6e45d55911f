// Runs that are stopped early, halved, and steered by hand; each story also with an engine that is killed.
#include "godwit/engine/steering.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "godwit/engine/test_world.h"

namespace godwit::engine::test {
namespace {

using journal::Kind;
using Story = std::vector<std::string>;

// Runs r0, r1 … of jobs of one epoch, named r0.1, r0.2 …; with an evaluation r0.1e beside each where asked.
struct SteerWorld : World {
  SteerWorld(int runs, int jobs, dag::Rules rules, bool evaluated = false) {
    slots = 1;
    graph.rules = std::move(rules);
    for (int run = 0; run < runs; ++run) {
      dag::Run of;
      of.number = static_cast<std::uint32_t>(run);
      of.uuid = uuid(run);
      const dag::RunId id = graph.add_run(of);
      dag::NodeId before = dag::kNoNode;
      for (int job = 1; job <= jobs; ++job) {
        const dag::NodeId node = add(fmt::format("r{}.{}", run, job), dag::NodeKind::train, job, id);
        if (before != dag::kNoNode) graph.add_edge(before, node);
        if (evaluated) graph.add_edge(node, add(fmt::format("r{}.{}e", run, job), dag::NodeKind::evaluate, job, id));
        before = node;
      }
    }
    graph.freeze();
  }

  static std::string uuid(int run) { return fmt::format("{:08x}", run); }

  void tell(int run, const std::vector<double>& losses) {
    for (std::size_t i = 0; i < losses.size(); ++i)
      executor.plays[fmt::format("r{}.{}", run, i + 1)] = {
          {exit_with(0), {fmt::format(R"({{"epoch":{},"val_loss":{}}})", i + 1, losses[i])}}};
  }

  // The jobs that are done, in their order.
  Story done() const {
    Story out;
    for (const journal::Event& event : journal.events)
      if (event.kind == Kind::node_done) out.push_back(event.node);
    return out;
  }
  std::size_t count(Kind kind) const { return journal.story({kind}).size(); }
  std::vector<Json> decisions(Kind kind) const {
    std::vector<Json> out;
    for (const journal::Event& event : journal.events)
      if (event.kind == kind) out.push_back(Json::parse(event.json));
    return out;
  }
  // Runs to the end, with one death of the engine at that commit.
  RunEnd run_killed_at(int instant) {
    journal.kill_at_commit = instant;
    try {
      return run();
    } catch (const Killed&) {
      journal.forget_uncommitted();
      checkpoints.forget();
      return run();
    }
  }

 private:
  dag::NodeId add(const std::string& name, dag::NodeKind kind, int epoch, dag::RunId run) {
    const auto text = graph.strings().intern(std::to_string(epoch));
    const dag::Var vars[] = {{graph.strings().intern("first_epoch"), text},
                             {graph.strings().intern("last_epoch"), text}};
    dag::Attributes attributes;
    attributes.priority = epoch;
    return graph.add_node(name, kind, 0, 0, graph.add_attributes(attributes), graph.add_vars(dag::kNoVars, vars), run);
  }
};

dag::Rules early_stop(std::uint32_t patience) {
  dag::Rules rules;
  rules.early_stop = dag::EarlyStopRule{{"val_loss", Goal::lowest}, patience, 0};
  return rules;
}

dag::Rules asha(std::uint32_t reduction) {
  dag::Rules rules;
  rules.asha = dag::AshaRule{{"val_loss", Goal::lowest}, reduction, 1, 0};
  return rules;
}

TEST_CASE("a run that gets no better ends, and that is a success") {
  for (int instant = 0; instant < 30; ++instant) {
    CAPTURE(instant);
    SteerWorld world(2, 6, early_stop(2), true);
    world.tell(0, {3, 2, 1, 1, 1, 1});
    world.tell(1, {6, 5, 4, 3, 2, 1});
    CHECK(world.run_killed_at(instant) == RunEnd::succeeded);
    Story done = world.done();
    std::sort(done.begin(), done.end());
    // What was trained is evaluated, the rest is not.
    CHECK(done == Story{"r0.1", "r0.1e", "r0.2", "r0.2e", "r0.3", "r0.3e", "r0.4", "r0.4e", "r0.5", "r0.5e",  //
                        "r1.1", "r1.1e", "r1.2", "r1.2e", "r1.3", "r1.3e", "r1.4", "r1.4e", "r1.5", "r1.5e",
                        "r1.6", "r1.6e"});
    CHECK(world.count(Kind::node_pruned) == 2);
    REQUIRE(world.count(Kind::run_pruned) == 1);
    const Json why = world.decisions(Kind::run_pruned).front();
    CHECK(why["run"] == SteerWorld::uuid(0));
    CHECK(why["by"] == "early_stop");
    CHECK(why["epoch"] == 5);
    CHECK(why["best_epoch"] == 3);
    CHECK(why["reason"] == "val_loss has not improved on 1 of epoch 3 in 2 epochs");
    const Json end = world.decisions(Kind::dag_ended).back();
    CHECK(end["success"] == true);
    CHECK(end["pruned"] == 2);
  }
}

TEST_CASE("a metric that nobody tells of stops nobody") {
  SteerWorld world(1, 4, early_stop(1));
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.done().size() == 4);
}

TEST_CASE("a metric that a rule goes by and no job tells of is said once, with the nearest name") {
  dag::Rules rules = early_stop(1);
  rules.asha = dag::AshaRule{{"eval.score", Goal::highest}, 2, 1, 0};
  rules.early_stop->metric.name = "val_los";
  for (int instant = 0; instant < 20; ++instant) {
    CAPTURE(instant);
    SteerWorld world(2, 2, rules, true);
    world.tell(0, {3, 2});
    world.tell(1, {3, 2});
    world.executor.plays["r0.1e"] = world.executor.plays["r1.1e"] = {{exit_with(0), {R"({"score":"good"})"}}};
    world.run_killed_at(instant);
    std::vector<std::string> messages;
    for (const Json& warning : world.decisions(Kind::warning)) {
      messages.push_back(warning.at("message"));
    }
    REQUIRE(messages.size() == 2);
    CHECK(messages[0] ==
          "r0.1: `early_stop` goes by the metric 'val_los', which the job's metrics do not have; did you mean "
          "'val_loss'?");
    CHECK(messages[1].ends_with("e: `asha` goes by the metric 'eval.score', which is no number in the job's metrics"));
  }
}

TEST_CASE("a metric that a rule goes by, where jobs tell of nothing, or of others") {
  SteerWorld silent(1, 2, early_stop(1));
  silent.run();
  REQUIRE(silent.count(Kind::warning) == 1);
  CHECK(silent.decisions(Kind::warning)[0]["message"] ==
        "r0.1: `early_stop` goes by the metric 'val_loss', but the job told of no metrics");

  dag::Rules rules = early_stop(1);
  rules.early_stop->metric.name = "spearman";
  SteerWorld other(1, 2, rules);
  other.tell(0, {3, 2});
  other.run();
  REQUIRE(other.count(Kind::warning) == 1);
  CHECK(other.decisions(Kind::warning)[0]["message"] ==
        "r0.1: `early_stop` goes by the metric 'spearman', which the job's metrics do not have; they have val_loss");
}

std::size_t jobs_of(const Story& done, int run) {
  return static_cast<std::size_t>(std::count_if(
      done.begin(), done.end(), [&](const std::string& node) { return node.starts_with(fmt::format("r{}.", run)); }));
}

// The paper's Figure 1 with one worker, the best first: nine runs, of which three train three jobs and one trains nine.
TEST_CASE("successive halving: the best train on, the others wait, and end where nothing promotes them") {
  Story undisturbed;
  for (int instant = 0; instant < 40; ++instant) {
    CAPTURE(instant);
    SteerWorld world(9, 9, asha(3));
    for (int run = 0; run < 9; ++run) world.tell(run, std::vector<double>(9, run));
    CHECK(world.run_killed_at(instant) == RunEnd::succeeded);
    const Story done = world.done();
    for (int run = 0; run < 9; ++run) CHECK(jobs_of(done, run) == (run == 0 ? 9u : run < 3 ? 3u : 1u));
    CHECK(world.count(Kind::run_promoted) == 4);
    CHECK(world.count(Kind::run_pruned) == 8);
    if (instant == 0) undisturbed = done;
    CHECK(done == undisturbed);
  }
}

// What asynchrony costs, Section 3.2 of the paper: where each is better than all before, each is promoted as it comes.
TEST_CASE("successive halving in the worst order") {
  SteerWorld world(9, 9, asha(3));
  for (int run = 0; run < 9; ++run) world.tell(run, std::vector<double>(9, 9.0 - run));
  CHECK(world.run() == RunEnd::succeeded);
  const Story done = world.done();
  for (int run = 0; run < 9; ++run) CHECK(jobs_of(done, run) == (run < 2 ? 1u : run < 4 ? 3u : 9u));
  CHECK(world.count(Kind::run_promoted) == 7 + 5);
}

TEST_CASE("a run that is paused at a rung is promoted when later results make room") {
  SteerWorld world(6, 3, asha(3));
  world.tell(0, {2, 2, 2});
  world.tell(1, {1, 1, 1});
  for (int run = 2; run < 6; ++run) world.tell(run, {9, 9, 9});
  CHECK(world.run() == RunEnd::succeeded);
  const std::vector<Json> promoted = world.decisions(Kind::run_promoted);
  REQUIRE(promoted.size() == 2);
  CHECK(promoted[0]["run"] == SteerWorld::uuid(1));  // of three
  CHECK(promoted[1]["run"] == SteerWorld::uuid(0));  // of six
  CHECK(promoted[1]["reason"] == "among the best 2 of 6 at rung 0");
}

TEST_CASE("by hand: a paused run waits, and goes on when it is promoted") {
  SteerWorld world(2, 3, {});
  world.requests = {{Request::What::pause, {}, {SteerWorld::uuid(0)}}};
  CHECK(world.run() == RunEnd::paused);
  CHECK(world.done() == Story{"r1.1", "r1.2", "r1.3"});
  CHECK(world.run() == RunEnd::paused);  // it is remembered
  world.requests = {{Request::What::promote, {}, {SteerWorld::uuid(0)}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.done().size() == 6);
}

TEST_CASE("by hand: pausing lets the running job end, pruning sends it away") {
  for (const Request::What what : {Request::What::pause, Request::What::prune}) {
    SteerWorld world(1, 3, {});
    world.executor.holds = true;
    int turn = 0;
    world.observer.on_turn_do = [&] {
      ++turn;
      if (turn == 2) world.requests = {{what, {}, {SteerWorld::uuid(0)}}};
      if (turn == 4) world.executor.holds = false;
    };
    const RunEnd end = world.run();
    CHECK(end == (what == Request::What::pause ? RunEnd::paused : RunEnd::succeeded));
    CHECK(world.done().size() == (what == Request::What::pause ? 1u : 0u));
    CHECK(world.executor.canceled.empty() == (what == Request::What::pause));
    CHECK(world.count(Kind::node_pruned) == (what == Request::What::pause ? 0u : 3u));
  }
}

TEST_CASE("by hand: past a rung, before the others have come to it") {
  SteerWorld world(3, 3, asha(3));
  for (int run = 0; run < 3; ++run) world.tell(run, std::vector<double>(3, run));
  int turn = 0;
  world.observer.on_turn_do = [&] {
    if (++turn == 2) world.requests = {{Request::What::promote, {}, {SteerWorld::uuid(0)}}};
  };
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.decisions(Kind::run_promoted).front()["by"] == "hand");
  CHECK(world.done().size() == 5);
}

TEST_CASE("what makes no sense is passed over") {
  SteerWorld world(1, 1, {});
  world.requests = {{Request::What::promote, {}, {SteerWorld::uuid(0)}}, {Request::What::pause, {}, {"ffffffff"}}};
  CHECK(world.run() == RunEnd::succeeded);
  world.requests = {{Request::What::prune, {}, {SteerWorld::uuid(0)}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.count(Kind::run_pruned) + world.count(Kind::run_paused) + world.count(Kind::run_promoted) == 0);
}

TEST_CASE("jobs that an edit adds behind pruned ones are pruned too") {
  SteerWorld world(1, 3, {});
  world.requests = {{Request::What::prune, {}, {SteerWorld::uuid(0)}}};
  CHECK(world.run() == RunEnd::succeeded);
  SteerWorld longer(1, 5, {});
  longer.journal.events = world.journal.events;
  EngineOptions edit;
  edit.edit_of = 0;
  CHECK(longer.run(edit) == RunEnd::succeeded);
  CHECK(longer.count(Kind::node_pruned) == 5);
  CHECK(longer.executor.accepted.empty());
}

TEST_CASE("the best checkpoint of a run that was stopped stays") {
  dag::Rules rules = early_stop(2);
  rules.checkpoint = "model";
  rules.keep = dag::KeepRule{1, 1, 0, dag::Metric{"val_loss", Goal::lowest}};
  SteerWorld world(1, 6, rules, true);
  world.tell(0, {3, 1, 2, 2, 2, 2});
  world.observer.on_event_do = [&](const journal::Event& event) {
    if (event.kind == Kind::submitting && !event.node.ends_with("e"))
      world.checkpoints.folders.try_emplace("runs/00000000/checkpoints/" + event.node.substr(3), event.node);
  };
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.checkpoints.folders.size() == 2);
  CHECK(world.checkpoints.folders.contains("runs/00000000/checkpoints/2"));
  CHECK(world.checkpoints.folders.contains("runs/00000000/checkpoints/4"));
}

}  // namespace
}  // namespace godwit::engine::test
