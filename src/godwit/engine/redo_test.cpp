// What a job goes on from must be what the job before it left; and what is done can be done again.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "godwit/engine/test_world.h"

namespace godwit::engine::test {
namespace {

using journal::Kind;
using Story = std::vector<std::string>;

// One run of four jobs of one epoch, each with its evaluation.
struct RedoWorld : World {
  explicit RedoWorld(const dag::Attributes& attributes = {}) : attributes_(graph.add_attributes(attributes)) {
    graph.rules.checkpoint = "model";
    Diagnostics diagnostics;
    auto description = std::make_shared<submit::Description>(
        submit::Description::parse("executable = /bin/true\ntransfer_executable = false\n"
                                   "if defined checkpoint_epoch\n"
                                   "transfer_input_files = data.csv, runs/00c0ffee/checkpoints/$(checkpoint_epoch)/\n"
                                   "endif\n",
                                   {"test.sub", 1, 1}, diagnostics));
    diagnostics.throw_if_errors();
    template_ = graph.add_template({"train", {description}});
    dag::Run run;
    run.uuid = "00c0ffee";
    run_ = graph.add_run(run);
    dag::NodeId before = dag::kNoNode;
    for (int epoch = 1; epoch <= kJobs; ++epoch) {
      const dag::NodeId job = add(fmt::format("train{}", epoch), dag::NodeKind::train, epoch, epoch - 1);
      const dag::NodeId evaluation = add(fmt::format("eval{}", epoch), dag::NodeKind::evaluate, epoch, epoch);
      if (before != dag::kNoNode) graph.add_edge(before, job);
      graph.add_edge(job, evaluation);
      before = job;
    }
    graph.freeze();
    observer.on_event_do = [this](const journal::Event& event) {
      if (event.kind == Kind::submitting && event.node.starts_with("train"))
        checkpoints.folders[folder(event.node.substr(5))] = fmt::format("{} as of {}", event.node, event.attempt);
    };
  }

  static std::string folder(const std::string& epoch) { return "runs/00c0ffee/checkpoints/" + epoch; }
  static std::optional<Content> content(const std::string& text) { return Content{text.size(), hash128(text)}; }

  // What the attempt's job was told to find in the checkpoint that it begins with.
  std::optional<Content> expected(const std::string& attempt) {
    const auto& inputs = executor.specs.at(attempt + ".job").inputs;
    REQUIRE(inputs.size() == 2);
    CHECK_FALSE(inputs[0].expected);
    return inputs[1].expected;
  }
  Story submitted(std::size_t after = 0) const {
    Story all = journal.story({Kind::submitting});
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(after));
    std::sort(all.begin(), all.end());
    return all;
  }
  void ask(std::vector<std::string> nodes) { requests = {{Request::What::redo, std::move(nodes)}}; }

  static constexpr int kJobs = 4;

 private:
  dag::NodeId add(const std::string& name, dag::NodeKind kind, int epoch, int from) {
    const auto text = graph.strings().intern(std::to_string(epoch));
    std::vector<dag::Var> vars{{graph.strings().intern("first_epoch"), text},
                               {graph.strings().intern("last_epoch"), text}};
    if (from != 0)
      vars.push_back({graph.strings().intern("checkpoint_epoch"), graph.strings().intern(std::to_string(from))});
    return graph.add_node(name, kind, template_, 0, attributes_, graph.add_vars(dag::kNoVars, vars), run_);
  }
  dag::TemplateId template_ = 0;
  std::uint32_t attributes_ = 0;
  dag::RunId run_ = 0;
};

TEST_CASE("a job expects of its checkpoint what the job before it left") {
  RedoWorld world;
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.executor.specs.at("train1.1.job").inputs.empty());
  CHECK(world.expected("train3.1") == RedoWorld::content("train2 as of 1"));
  CHECK(world.expected("eval3.1") == RedoWorld::content("train3 as of 1"));
}

TEST_CASE("what an earlier engine recorded is expected still") {
  RedoWorld world;
  world.executor.plays["train2"] = {{exit_with(1), {}}};
  CHECK(world.run() == RunEnd::failed);
  world.checkpoints.folders[RedoWorld::folder("1")] = "somebody else's";
  world.requests = {{Request::What::retry, {"train2"}}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.expected("train2.2") == RedoWorld::content("train1 as of 1"));
}

TEST_CASE("an input that is not what it was is not tried again") {
  dag::Attributes patient;
  patient.retries = 3;
  RedoWorld world(patient);
  world.executor.plays["train2"] = {{ended_as(jobs::Outcome::input_changed), {}}};
  CHECK(world.run() == RunEnd::failed);
  CHECK(world.journal.story({Kind::node_failed}) == Story{"node_failed train2.1"});
}

TEST_CASE("what is there now can be accepted, and is expected from then on") {
  for (int instant = 0; instant < 6; ++instant) {
    CAPTURE(instant);
    RedoWorld world;
    world.executor.plays["train2"] = {{ended_as(jobs::Outcome::input_changed), {}}, {exit_with(1), {}}};
    CHECK(world.run() == RunEnd::failed);
    world.checkpoints.folders[RedoWorld::folder("1")] = "mended by hand";
    world.requests = {{Request::What::accept, {"train2"}}};
    world.journal.kill_at_commit = instant;
    try {
      world.run();
    } catch (const Killed&) {
      world.journal.forget_uncommitted();
      world.checkpoints.forget();
      world.run();
    }
    world.journal.kill_at_commit = 0;
    world.requests = {{Request::What::retry, {"train2"}}};
    CHECK(world.run() == RunEnd::succeeded);
    CHECK(world.expected("train2.3") == RedoWorld::content("mended by hand"));
  }
}

TEST_CASE("a job that is done is done again, and nothing else") {
  RedoWorld world;
  CHECK(world.run() == RunEnd::succeeded);
  const std::size_t before = world.journal.story({Kind::submitting}).size();
  world.ask({"train2"});
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.submitted(before) == Story{"submitting train2.2"});
  CHECK(world.journal.story({Kind::node_reset}) == Story{"node_reset train2.1"});
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.submitted(before).size() == 1);
}

TEST_CASE("what failed waits for the jobs before it that are done again, and then goes on") {
  RedoWorld world;
  world.executor.plays["train3"] = {{ended_as(jobs::Outcome::input_changed), {}}};
  CHECK(world.run() == RunEnd::failed);
  const std::size_t before = world.journal.story({Kind::submitting}).size();
  world.ask({"train3", "train2", "train1"});
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.submitted(before) == Story{"submitting eval3.1", "submitting eval4.1", "submitting train1.2",
                                         "submitting train2.2", "submitting train3.2", "submitting train4.1"});
  CHECK(world.expected("train2.2") == RedoWorld::content("train1 as of 2"));
  CHECK(world.expected("train3.2") == RedoWorld::content("train2 as of 2"));
}

TEST_CASE("while an engine is at work: what is ready waits again, what runs goes on") {
  RedoWorld world;
  bool asked = false;
  world.observer.on_turn_do = [&] {
    const auto done = world.journal.story({Kind::node_done});
    if (asked || std::find(done.begin(), done.end(), "node_done train2.1") == done.end()) return;
    asked = true;
    world.ask({"train1", "train2", "nobody", "train4"});
  };
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(asked);
  const Story done = world.journal.story({Kind::node_done});
  CHECK(std::count(done.begin(), done.end(), "node_done train2.2") == 1);
  CHECK(std::count(done.begin(), done.end(), "node_done train1.2") == 1);
  for (const char* once : {"node_done train3.1", "node_done train4.1", "node_done eval4.1"})
    CHECK(std::count(done.begin(), done.end(), once) == 1);
}

TEST_CASE("a checkpoint that was deleted comes back for whom needs it, and goes again") {
  RedoWorld world;
  world.graph.rules.keep = dag::KeepRule{1, 0, 0, {}};
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.checkpoints.folders.size() == 1);
  world.checkpoints.folders.clear();  // the last is lost
  world.ask({"train4", "train3", "train2", "train1"});
  CHECK(world.run() == RunEnd::succeeded);
  CHECK(world.expected("train4.2") == RedoWorld::content("train3 as of 2"));
  CHECK(world.checkpoints.folders.size() == 1);
  CHECK(world.checkpoints.folders.contains(RedoWorld::folder("4")));
}

TEST_CASE("killed at any commit, it is done again once") {
  for (int instant = 1; instant < 40; ++instant) {
    CAPTURE(instant);
    RedoWorld world;
    world.graph.rules.keep = dag::KeepRule{2, 0, 0, {}};
    CHECK(world.run() == RunEnd::succeeded);
    world.checkpoints.folders.erase(RedoWorld::folder("3"));
    world.ask({"train3", "train2", "train1"});
    world.journal.kill_at_commit = instant;
    try {
      world.run();
    } catch (const Killed&) {
      world.journal.forget_uncommitted();
      world.checkpoints.forget();
    }
    CHECK(world.run() == RunEnd::succeeded);
    const Story done = world.journal.story({Kind::node_done});
    for (const char* again : {"node_done train1.2", "node_done train2.2", "node_done train3.2"})
      CHECK(std::count(done.begin(), done.end(), again) == 1);
    CHECK(done.size() == 2 * RedoWorld::kJobs + 3);
    CHECK(world.checkpoints.folders.size() == 2);
    CHECK(world.checkpoints.folders.contains(RedoWorld::folder("3")));
  }
}

}  // namespace
}  // namespace godwit::engine::test
