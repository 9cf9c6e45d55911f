#include "godwit/engine/scoring.h"

#include <doctest/doctest.h>

#include "godwit/base/error.h"
#include "godwit/engine/test_world.h"

namespace godwit::engine {
namespace {

using test::exit_with;

// One run's evaluation of its epoch 5, beside an executor that keeps what it was given.
struct Bench {
  explicit Bench(const std::string& inputs) {
    graph.directory = "/nowhere";
    graph.add_site("here");
    Diagnostics diagnostics;
    auto description = std::make_shared<submit::Description>(submit::Description::parse(
        "executable = /bin/true\ntransfer_executable = false\noutput = out\ntransfer_input_files = " + inputs +
            "\ntransfer_output_files = scores\n",
        {"test.sub", 1, 1}, diagnostics));
    diagnostics.throw_if_errors();
    graph.add_template({"eval", {description}});
    dag::Run run;
    run.uuid = "d35b3ea9";
    node = graph.add_node("eval", dag::NodeKind::evaluate, 0, 0, 0, dag::kNoVars, graph.add_run(run));
    graph.freeze();
  }

  class Recorder final : public jobs::JobExecutor {
   public:
    std::string name() const override { return "recorder"; }
    void submit(std::span<const jobs::Attempt> attempts) override {
      given.insert(given.end(), attempts.begin(), attempts.end());
      inner.submit(attempts);
    }
    std::vector<jobs::Found> find(std::span<const jobs::AttemptKey> keys) override { return inner.find(keys); }
    void attach(std::span<const jobs::Attempt>) override {}
    void cancel(std::span<const jobs::AttemptKey> keys, bool now) override { inner.cancel(keys, now); }
    void poll(jobs::StatusSink& sink) override { inner.poll(sink); }
    bool settled() const override { return true; }
    int wake_fd() const override { return -1; }
    void release(std::span<const jobs::AttemptKey> keys) override { inner.release(keys); }
    test::FakeExecutor inner;
    std::vector<jobs::Attempt> given;
  };

  dag::Graph graph;
  dag::NodeId node = 0;
  Recorder executor;
};

const auto kGoOn = [](std::size_t) { return true; };

TEST_CASE("an evaluation repeated with another checkpoint, without a trace in the experiment") {
  Bench bench("data.csv, runs/d35b3ea9/checkpoints/5/");
  bench.executor.inner.plays["line-1"] = {{exit_with(0), {R"({"loss":0.5})", "no json", R"({"loss":NaN})"}}};
  bench.executor.inner.plays["line-2"] = {{exit_with(3), {}}};
  Scorer scorer(bench.graph, bench.executor, "/logs");
  const std::vector<ScoreRequest> requests = {{bench.node, 0, "line-1", "/mixed/1"},
                                              {bench.node, 0, "line-2", "/mixed/2"}};
  const std::vector<Score> scores = scorer.run(requests, kGoOn);
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].failure.empty());
  REQUIRE(scores[0].lines.size() == 2);
  CHECK(scores[0].lines[0] == Json{{"loss", 0.5}});
  CHECK(scores[1].failure == "exit code 3");

  REQUIRE(bench.executor.given.size() == 2);
  const jobs::JobSpec& spec = *bench.executor.given[0].spec;
  REQUIRE(spec.inputs.size() == 2);
  CHECK(spec.inputs[0].source == "data.csv");
  CHECK(spec.inputs[1].source == "/mixed/1");
  CHECK(spec.inputs[1].contents_only);
  CHECK(spec.outputs.empty());
  CHECK(spec.stdout_path.empty());
  CHECK(spec.stderr_path == "/logs/line-1.err");
}

TEST_CASE("told to stop, what runs is stopped") {
  Bench bench("runs/d35b3ea9/checkpoints/5/");
  bench.executor.inner.holds = true;
  Scorer scorer(bench.graph, bench.executor, "/logs");
  const std::vector<ScoreRequest> requests = {{bench.node, 0, "line-1", "/mixed/1"}};
  CHECK(scorer.run(requests, [](std::size_t) { return false; })[0].failure == "evicted");
}

TEST_CASE("an evaluation that takes no checkpoint cannot be repeated with another") {
  Bench bench("data.csv");
  Scorer scorer(bench.graph, bench.executor, "/logs");
  const std::vector<ScoreRequest> requests = {{bench.node, 0, "line-1", "/mixed/1"}};
  CHECK_THROWS_AS(scorer.run(requests, kGoOn), InputError);
}

}  // namespace
}  // namespace godwit::engine
