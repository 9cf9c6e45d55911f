#include "godwit/report/read.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "godwit/journal/story.h"
#include "godwit/report/comparison.h"

namespace godwit::report {
namespace {

using journal::Kind;
using journal::Story;

// A migrated run of two jobs and its baseline, as their engine told of them.
class PairStory {
 public:
  PairStory() {
    story.dag("pair").site("delta").site("anvil");
    story.run(0, {"delta", "anvil"}, 2, false, "p").run(1, {"delta", "delta"}, 2, true, "p");
    // Evaluation nodes beside the jobs of run 0; ids 0 to 3 are the training jobs. The second does not say its epochs.
    story.define({{"run0-eval_epoch1", "evaluate", Story::uuid_of(0), "delta", 1, 2},
                  {"run0-eval_epoch2", "evaluate", Story::uuid_of(0), "anvil", 0, 0}},
                 {{0, 4}, {1, 5}});
    story.engine();
  }

  PairStory& train(const std::string& node, const std::string& site, std::uint32_t first, double loss) {
    story.start(node, 1, site).wait(3).epoch(node, 1, first, loss + 1).wait(5).epoch(node, 1, first + 1, loss);
    story.end(node, 1, "exited", {{"started_us", story.now - 8'000'000}});
    story.add(Kind::node_done, node, 1, Json::object());
    return *this;
  }

  Experiment read() const {
    journal::View view;
    for (const journal::Event& event : story.events) view.apply(event);
    return read_experiment(view);
  }

  Story story;
};

const Series& series_of(const Run& run, const std::string& name) {
  for (const Series& series : run.series)
    if (series.metric == name) return series;
  FAIL("no series " << name);
  return run.series.front();
}

TEST_CASE("a finished pair is read with its jobs, curves, scores and times") {
  PairStory pair;
  pair.train("run0-train_epoch0", "delta", 1, 4).train("run0-train_epoch1", "anvil", 3, 2);
  pair.train("run1-train_epoch0", "delta", 1, 4).train("run1-train_epoch1", "delta", 3, 1.5);
  for (const char* node : {"run0-eval_epoch1", "run0-eval_epoch2"}) {
    pair.story.start(node, 1, "delta");
    pair.story.add(Kind::epoch, node, 1, {{"epoch", 1}, {"spearman", 0.1}});  // of its own finetuning
    pair.story.add(Kind::epoch, node, 1, {{"epoch", 2}, {"spearman", 0.7}});
    pair.story.succeed(node);
  }
  const Experiment experiment = pair.read();
  CHECK(experiment.name == "pair");
  REQUIRE(experiment.runs.size() == 2);
  const Run& run = experiment.runs[0];
  CHECK(run.state == State::finished);
  CHECK(run.epochs == 4);
  REQUIRE(run.jobs.size() == 2);
  CHECK(run.jobs[1].site == "anvil");
  CHECK(run.jobs[1].first_epoch == 3);
  CHECK(run.jobs[0].wall_s == 12.5);
  CHECK(series_of(run, "val_loss").points == std::vector<Point>{{1, 5}, {2, 4}, {3, 3}, {4, 2}});
  const Series& scores = series_of(run, "spearman");
  CHECK(scores.evaluation);
  CHECK(scores.points == std::vector<Point>{{2, 0.7}, {4, 0.7}});
  CHECK(run.series.size() == 2);  // neither "epoch" nor "_offset" is a metric
  REQUIRE(run.epoch_times.size() == 4);
  CHECK(run.epoch_times[0].seconds == 3);
  CHECK(run.epoch_times[3].seconds == 5);
  CHECK(run.epoch_times[3].site == "anvil");
  CHECK_FALSE(run.epoch_times[3].reported);
  CHECK(compare(experiment).paired[0].differences.mean == 0.5);
}

TEST_CASE("retries, a diverged loss and a job's own times") {
  PairStory pair;
  const std::string node = "run0-train_epoch0";
  pair.story.start(node, 1, "delta")
      .epoch(node, 1, 1, 9)
      .end(node, 1, "exited", {{"exit_code", 1}, {"retry", "retried"}});
  pair.story.start(node, 2, "delta");
  pair.story.add(Kind::epoch, node, 2, {{"epoch", 1}, {"val_loss", "NaN"}, {"seconds", 1.5}, {"step", 7}});
  const Run run = pair.read().runs[0];
  CHECK(run.state == State::running);
  CHECK(run.jobs[0].attempts == 2);
  CHECK(run.jobs[0].retries == 1);
  REQUIRE(run.series.size() == 3);  // "seconds" and "step" for those who ask: compare() leaves them out
  CHECK(std::any_of(run.series.begin(), run.series.end(), [](const Series& series) {
    return series.metric == "val_loss" && std::isnan(series.points.at(0).value);
  }));
  REQUIRE(run.epoch_times.size() == 1);
  CHECK(run.epoch_times[0].seconds == 1.5);
  CHECK(run.epoch_times[0].reported);
}

TEST_CASE("epochs too short to be timed by their lines share the attempt's wall time") {
  PairStory pair;
  const std::string node = "run0-train_epoch0";
  pair.story.start(node, 1, "delta").epoch(node, 1, 1, 9).epoch(node, 1, 2, 8);  // both read in one turn of the engine
  CHECK(pair.read().runs[0].epoch_times[1].seconds == 0);                        // nothing better is known yet
  pair.story.end(node, 1, "exited", {{"wall_s", 0.5}});
  const Run run = pair.read().runs[0];
  REQUIRE(run.epoch_times.size() == 2);
  CHECK(run.epoch_times[0].seconds == 0.25);
  CHECK(run.epoch_times[1].seconds == 0.25);
  CHECK_FALSE(run.epoch_times[1].reported);
}

TEST_CASE("the states of runs") {
  PairStory pair;
  CHECK(pair.read().runs[0].state == State::waiting);
  pair.story.queue("run0-train_epoch0", 1, "delta");
  CHECK(pair.read().runs[0].state == State::waiting);
  pair.train("run0-train_epoch0", "delta", 1, 4);
  CHECK(pair.read().runs[0].state == State::running);
  pair.story.start("run0-train_epoch1", 1, "anvil").end("run0-train_epoch1", 1, "exited", {{"exit_code", 1}});
  pair.story.add(Kind::node_failed, "run0-train_epoch1", 1, {{"reason", "exit 1"}});
  CHECK(pair.read().runs[0].state == State::failed);
  CHECK(compare(pair.read()).notes.front().find("run 0 (failed)") != std::string::npos);
}

TEST_CASE("a journal without runs") {
  const Experiment experiment = read_experiment(journal::View());
  CHECK(experiment.runs.empty());
}

}  // namespace
}  // namespace godwit::report
