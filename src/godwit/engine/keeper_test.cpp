// Which checkpoints go, when, and that they go only after it is recorded.
#include "godwit/engine/keeper.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "godwit/engine/test_world.h"

namespace godwit::engine::test {
namespace {

using journal::Kind;
using Story = std::vector<std::string>;

// One run of jobs of one epoch, evaluated beside each where asked. What a job leaves is there from its beginning on.
struct KeepWorld : World {
  explicit KeepWorld(dag::KeepRule rule, bool evaluated = false) {
    graph.rules.checkpoint = "model";
    graph.rules.keep = std::move(rule);
    dag::Run run;
    run.uuid = "00c0ffee";
    run_ = graph.add_run(run);
    dag::NodeId before = dag::kNoNode;
    for (int epoch = 1; epoch <= kJobs; ++epoch) {
      const dag::NodeId job = add(fmt::format("train{}", epoch), dag::NodeKind::train, epoch);
      if (before != dag::kNoNode) graph.add_edge(before, job);
      if (evaluated) graph.add_edge(job, add(fmt::format("eval{}", epoch), dag::NodeKind::evaluate, epoch));
      before = job;
    }
    graph.freeze();
    observer.on_event_do = [this](const journal::Event& event) {
      if (event.kind != Kind::submitting || !event.node.starts_with("train")) return;
      checkpoints.folders.try_emplace(folder(event.node.substr(5)), "model of epoch " + event.node.substr(5));
    };
  }

  static std::string folder(const std::string& epoch) { return "runs/00c0ffee/checkpoints/" + epoch; }

  // Epochs whose checkpoints are there.
  Story there() const {
    Story out;
    for (int epoch = 1; epoch <= kJobs; ++epoch)
      if (checkpoints.folders.contains(folder(std::to_string(epoch)))) out.push_back(std::to_string(epoch));
    return out;
  }
  void tell(int epoch, const std::string& loss) {
    executor.plays[fmt::format("train{}", epoch)] = {
        {exit_with(0), {fmt::format(R"({{"epoch":{},"val_loss":{}}})", epoch, loss)}}};
  }

  static constexpr int kJobs = 6;

 private:
  dag::NodeId add(const std::string& name, dag::NodeKind kind, int epoch) {
    const auto text = graph.strings().intern(std::to_string(epoch));
    const dag::Var vars[] = {{graph.strings().intern("first_epoch"), text},
                             {graph.strings().intern("last_epoch"), text}};
    return graph.add_node(name, kind, 0, 0, 0, graph.add_vars(dag::kNoVars, vars), run_);
  }
  dag::RunId run_ = 0;
};

TEST_CASE("without a rule each is recorded and nothing goes") {
  KeepWorld world({});
  world.graph.rules.keep.reset();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"1", "2", "3", "4", "5", "6"});
  CHECK(world.journal.story({Kind::checkpoint}).size() == 6);
  CHECK(world.journal.story({Kind::checkpoint_dropped}).empty());
}

TEST_CASE("jobs that leave no checkpoint are not looked at") {
  KeepWorld world({});
  world.graph.rules.keep.reset();
  world.graph.rules.checkpoint.clear();
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.journal.story({Kind::checkpoint, Kind::warning}).empty());
}

TEST_CASE("the last two stay, each is recorded, and each that goes is recorded before") {
  KeepWorld world({2, 0, 0, {}});
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"5", "6"});
  CHECK(world.journal.story({Kind::checkpoint}).size() == 6);
  CHECK(world.journal.story({Kind::checkpoint_dropped}) ==
        Story{"checkpoint_dropped train1.1", "checkpoint_dropped train2.1", "checkpoint_dropped train3.1",
              "checkpoint_dropped train4.1"});
}

TEST_CASE("the best stays, however old, and so do those of every so-manyth epoch") {
  KeepWorld best({1, 1, 0, dag::Metric{"val_loss", Goal::lowest}});
  const char* losses[] = {"3", "1", "2", "NaN", "5", "4"};
  for (int epoch = 1; epoch <= 6; ++epoch) best.tell(epoch, losses[epoch - 1]);
  CHECK(best.run() == RunEnd::succeeded);
  CHECK(best.there() == Story{"2", "6"});

  KeepWorld every({1, 0, 2, {}});
  CHECK(every.run() == RunEnd::succeeded);
  CHECK(every.there() == Story{"2", "4", "6"});
}

TEST_CASE("where the metric is never told of, all stay; one warning names it, and one says what follows") {
  KeepWorld world({1, 1, 0, dag::Metric{"val_los", Goal::lowest}});
  for (int epoch = 1; epoch <= 6; ++epoch) world.tell(epoch, "1");
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there().size() == 6);
  CHECK(world.journal.story({Kind::warning}) == Story{"warning train1.1", "warning train1.1"});
}

TEST_CASE("a checkpoint waits for its evaluation, and for no longer") {
  KeepWorld world({1, 0, 0, {}}, true);
  world.executor.plays["eval2"] = {{exit_with(1), {}}};
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.there() == Story{"2", "6"});
  world.requests = {{Request::What::retry, {"eval2"}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"6"});
}

TEST_CASE("the best by an evaluation's metric") {
  KeepWorld world({1, 1, 0, dag::Metric{"eval.score", Goal::highest}}, true);
  for (int epoch = 1; epoch <= 6; ++epoch)
    world.executor.plays[fmt::format("eval{}", epoch)] = {
        {exit_with(0), {fmt::format(R"({{"score":{}}})", epoch == 3 ? 0.9 : 0.1 * epoch)}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"3", "6"});
}

TEST_CASE("before a successor that is not as it was recorded, nothing goes") {
  KeepWorld world({1, 0, 0, {}});
  bool spoiled = false;
  auto leave = world.observer.on_event_do;
  world.observer.on_event_do = [&](const journal::Event& event) {
    leave(event);
    if (event.kind != Kind::checkpoint || event.node != "train3" || std::exchange(spoiled, true)) return;
    world.checkpoints.folders[KeepWorld::folder("3")] = "short";
  };
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"2", "3", "6"});
  CHECK(world.journal.story({Kind::warning}).size() == 1);
}

TEST_CASE("what was recorded as deleted and is still there goes when the engine starts again") {
  KeepWorld world({1, 0, 0, {}});
  world.checkpoints.lazy = true;
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there().size() == 6);
  world.checkpoints.lazy = false;
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"6"});
}

TEST_CASE("a rule that comes later applies to what is there") {
  KeepWorld world({});
  world.graph.rules.keep.reset();
  CHECK(world.run() == RunEnd::succeeded);
  world.graph.rules.keep = dag::KeepRule{3, 0, 0, {}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.there() == Story{"4", "5", "6"});
}

TEST_CASE("killed at any commit, the same checkpoints stay, and none goes that is not recorded as gone") {
  for (int instant = 1; instant < 40; ++instant) {
    CAPTURE(instant);
    KeepWorld world({1, 1, 3, dag::Metric{"val_loss", Goal::lowest}}, true);
    const char* losses[] = {"3", "1", "2", "9", "5", "4"};
    for (int epoch = 1; epoch <= 6; ++epoch) world.tell(epoch, losses[epoch - 1]);
    world.journal.kill_at_commit = instant;
    RunEnd end = RunEnd::failed;
    try {
      end = world.run();
    } catch (const Killed&) {
      world.journal.forget_uncommitted();
      world.checkpoints.forget();
      std::size_t left = 0;
      for (const journal::Event& event : world.journal.events)
        if (event.kind == Kind::node_done && event.node.starts_with("train")) ++left;
      const std::size_t dropped = world.journal.story({Kind::checkpoint_dropped}).size();
      CHECK(world.there().size() + dropped >= left);
      end = world.run();
    }
    CHECK(end == RunEnd::succeeded);
    CHECK(world.there() == Story{"2", "3", "6"});
  }
}

}  // namespace
}  // namespace godwit::engine::test
