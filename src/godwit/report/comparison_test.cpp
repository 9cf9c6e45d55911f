#include "godwit/report/comparison.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/report/fixture.h"

namespace godwit::report {
namespace {

using fixture::make_run;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

doctest::Approx near(double value) {
  return doctest::Approx(value).epsilon(1e-12);
}

// Three pairs. Differences of the last losses: 1.2 - 1 = 0.2, 2.1 - 2 = 0.1, 3.3 - 3 = 0.3.
Experiment three_pairs() {
  Experiment experiment;
  experiment.name = "three pairs";
  experiment.runs = {
      make_run({0, false, "a", 7, {{"lr", "0.1"}, {"depth", "2"}}, {4, 1.1, 1.2}, {"delta", "anvil", "delta"}}),
      make_run({1, false, "b", 8, {{"lr", "0.2"}, {"depth", "2"}}, {5, 3, 2.1}, {"anvil", "delta", "anvil"}}),
      make_run({2, false, "c", 9, {{"lr", "0.1"}, {"depth", "2"}}, {6, 4, 3.3}, {"delta", "delta", "anvil"}}),
      make_run({3, true, "a", 7, {{"lr", "0.1"}, {"depth", "2"}}, {4, 2, 1}, {"delta"}}),
      make_run({4, true, "b", 8, {{"lr", "0.2"}, {"depth", "2"}}, {5, 3, 2}, {"delta"}}),
      make_run({5, true, "c", 9, {{"lr", "0.1"}, {"depth", "2"}}, {6, 5, 3}, {"delta"}}),
  };
  return experiment;
}

bool noted(const Comparison& comparison, std::string_view text) {
  for (const std::string& note : comparison.notes)
    if (note.find(text) != std::string::npos) return true;
  MESSAGE("notes: " << join(comparison.notes, " | "));
  return false;
}

TEST_CASE("two groups, three pairs, worked by hand") {
  const Comparison result = compare(three_pairs());
  REQUIRE(result.metrics.size() == 1);
  REQUIRE(result.groups.size() == 2);
  const GroupMetric& migrated = result.groups[0].metrics[0];
  const GroupMetric& baseline = result.groups[1].metrics[0];
  CHECK(result.groups[0].name == "migrated");
  CHECK(result.groups[1].name == "baseline");
  CHECK(migrated.last.mean == near(2.2));            // (1.2 + 2.1 + 3.3)/3
  CHECK(migrated.last.sd == near(std::sqrt(1.11)));  // deviations -1, -0.1, 1.1: 2.22/2
  CHECK(baseline.last.mean == near(2));
  CHECK(baseline.last.sd == near(1));
  CHECK(migrated.best.mean == near((1.1 + 2.1 + 3.3) / 3));

  REQUIRE(migrated.curve.size() == 3);
  CHECK(migrated.curve[1].epoch == 2);
  CHECK(migrated.curve[1].n == 3);
  CHECK(migrated.curve[1].mean == near(2.7));
  CHECK(migrated.curve[1].min == near(1.1));
  CHECK(migrated.curve[1].max == near(4));

  const PairedMetric& paired = result.paired[0];
  REQUIRE(paired.pairs.size() == 3);
  CHECK(paired.pairs[1].label == "lr=0.2, seed 8");  // depth is the same everywhere
  CHECK(paired.pairs[1].difference == near(0.1));
  CHECK(paired.differences.mean == near(0.2));
  CHECK(paired.differences.sd == near(0.1));
  CHECK(paired.differences.median == near(0.2));
  REQUIRE(paired.interval);
  const double half = 4.302652729911275 * 0.1 / std::sqrt(3.0);  // t(0.975; 2)
  CHECK(paired.interval->low == doctest::Approx(0.2 - half).epsilon(1e-9));
  CHECK(paired.interval->high == doctest::Approx(0.2 + half).epsilon(1e-9));
  REQUIRE(paired.curve.size() == 3);
  CHECK(paired.curve[1].mean == near((-0.9 + 0 - 1) / 3));  // epoch 2: 1.1 - 2, 3 - 3, 4 - 5
  CHECK(paired.curve[1].max == near(0));
  CHECK(result.notes.empty());
  CHECK(result.unpaired.empty());
}

TEST_CASE("bookkeeping is no result, unless it is asked for") {
  const auto with_rows = [] {
    Experiment experiment = three_pairs();
    for (Run& run : experiment.runs) {
      run.series.push_back({"rows", true, {{1, 100}, {2, 200}, {3, 300}}});
      run.series.insert(run.series.begin(), Series{"seconds", false, {{1, 1.5}, {2, 1.5}, {3, 1.5}}});
    }
    return experiment;
  };
  const Comparison result = compare(with_rows());
  REQUIRE(result.metrics.size() == 1);
  CHECK(result.metrics[0].name == "val_loss");
  const std::vector<std::pair<std::string, std::string>> asked = {
      {"seconds", "seconds"}, {"rows", "eval.rows"}, {"eval.rows", "eval.rows"}};
  for (const auto& [metric, name] : asked) {
    Options options;
    options.metric = metric;
    const Comparison comparison = compare(with_rows(), options);
    CHECK(comparison.metrics.size() == 2);
    CHECK(comparison.metrics[comparison.primary].name == name);
  }
}

TEST_CASE("each run knows its last and its best value") {
  const Comparison result = compare(three_pairs());
  CHECK(result.run_metrics[0][0].last == Point{3, 1.2});
  CHECK(result.run_metrics[0][0].best == Point{2, 1.1});
  Options highest;
  highest.goal = Goal::highest;
  CHECK(compare(three_pairs(), highest).run_metrics[0][0].best == Point{1, 4});
}

TEST_CASE("values that vary make groups of their own") {
  const Comparison result = compare(three_pairs());
  CHECK(result.varying == std::vector<std::string>{"lr"});
  REQUIRE(result.by_values.size() == 4);
  CHECK(result.by_values[0].name == "lr=0.1, migrated");
  CHECK(result.by_values[0].metrics[0].last.mean == near(2.25));
  CHECK(result.by_values[1].name == "lr=0.1, baseline");
  CHECK(result.by_values[3].name == "lr=0.2, baseline");
  CHECK_FALSE(result.by_values[3].metrics[0].interval);  // one run says nothing about spread
}

TEST_CASE("without a baseline the values are the groups") {
  Experiment experiment = three_pairs();
  experiment.runs.resize(3);
  const Comparison result = compare(experiment);
  CHECK_FALSE(result.has_baseline);
  CHECK(result.paired.empty());
  REQUIRE(result.groups.size() == 2);
  CHECK(result.groups[0].name == "lr=0.1");
  CHECK(result.groups[0].runs == std::vector<std::size_t>{0, 2});
  CHECK(result.notes.empty());
}

TEST_CASE("one run alone") {
  Experiment experiment = three_pairs();
  experiment.runs.resize(1);
  const Comparison result = compare(experiment);
  REQUIRE(result.groups.size() == 1);
  CHECK(result.groups[0].name == "all runs");
  CHECK(result.groups[0].metrics[0].last.n == 1);
  CHECK_FALSE(result.groups[0].metrics[0].interval);
}

TEST_CASE("unfinished runs are named and enter no mean and no pair") {
  Experiment experiment = three_pairs();
  experiment.runs[1].state = State::running;
  experiment.runs[5].state = State::failed;
  const Comparison result = compare(experiment);
  CHECK(result.finished() == 4);
  CHECK(result.groups[0].finished == 2);
  CHECK(result.groups[0].runs.size() == 3);
  CHECK(result.groups[0].metrics[0].last.mean == near(2.25));
  CHECK(result.groups[0].metrics[0].curve[0].n == 2);
  REQUIRE(result.paired[0].pairs.size() == 1);
  CHECK(result.paired[0].pairs[0].key == "a");
  CHECK(result.unpaired == std::vector<std::size_t>{2, 4});
  CHECK(noted(result, "Not finished and left out of every mean: run 1 (running), run 5 (failed)."));
  CHECK(noted(result, "without a finished, valid partner of the same values and seed: runs 2 and 4"));
}

TEST_CASE("a diverged run is left out and named") {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    CAPTURE(value);
    Experiment experiment = three_pairs();
    experiment.runs[2].series[0].points[2].value = value;
    const Comparison result = compare(experiment);
    const GroupMetric& migrated = result.groups[0].metrics[0];
    CHECK(migrated.not_finite == 1);
    CHECK(migrated.last.n == 2);
    CHECK(migrated.last.mean == near(1.65));
    CHECK(migrated.curve[0].n == 2);
    CHECK(result.run_metrics[2][0].best == Point{2, 4});
    CHECK(result.paired[0].pairs.size() == 2);
    CHECK(noted(result, "The last val_loss is not a finite number: run 2; left out"));
  }
}

TEST_CASE("several migrated runs of one pair count as one") {
  Experiment experiment = three_pairs();
  experiment.runs[2].pair = "a";  // now a: 1.2 and 3.3 against 1
  const Comparison result = compare(experiment);
  REQUIRE(result.paired[0].pairs.size() == 2);
  CHECK(result.paired[0].pairs[0].migrated == std::vector<std::size_t>{0, 2});
  CHECK(result.paired[0].pairs[0].difference == near(2.25 - 1));
  CHECK(result.unpaired == std::vector<std::size_t>{5});
}

TEST_CASE("evaluation metrics stand beside the training ones") {
  Experiment experiment = three_pairs();
  for (Run& run : experiment.runs) run.series.push_back({"val_loss", true, {{2, 10.0 + run.number}}});
  experiment.runs[4].series.pop_back();
  const Comparison result = compare(experiment);
  REQUIRE(result.metrics.size() == 2);
  CHECK(result.metrics[1].name == "eval.val_loss");
  CHECK(result.primary == 0);
  CHECK(result.groups[0].metrics[1].last.mean == near(11));
  CHECK(result.groups[1].metrics[1].missing == 1);
  CHECK(result.paired[1].pairs.size() == 2);
  CHECK(result.paired[1].differences.mean == near(-3));
}

TEST_CASE("the primary metric") {
  Experiment experiment = three_pairs();
  for (Run& run : experiment.runs) {
    run.series.insert(run.series.begin(), Series{"train_loss", false, {{1, 1}}});
    run.series.push_back({"spearman", true, {{2, 0.5}}});
  }
  Options options;
  CHECK(compare(experiment).primary == 1);
  options.metric = "train_loss";
  CHECK(compare(experiment, options).primary == 0);
  for (const char* name : {"spearman", "eval.spearman"}) {
    options.metric = name;
    CHECK(compare(experiment, options).primary == 2);
  }
  options.metric = "val_los";
  try {
    compare(experiment, options);
    FAIL("an unknown metric was accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("no metric 'val_los'") != std::string::npos);
    CHECK(error.diagnostics().front().hint.find("val_loss") != std::string::npos);
  }
}

TEST_CASE("a run without metrics, and an experiment without any") {
  Experiment experiment = three_pairs();
  experiment.runs[0].series.clear();
  const Comparison one = compare(experiment);
  CHECK(one.groups[0].metrics[0].missing == 1);
  CHECK(noted(one, "Finished without ever reporting val_loss: run 0"));
  for (Run& run : experiment.runs) run.series.clear();
  const Comparison none = compare(experiment);
  CHECK_FALSE(none.has_metrics());
  CHECK(noted(none, "No job reported a metric"));
  CHECK(compare({}).experiment.runs.empty());
}

TEST_CASE("a finished run whose metrics stop early is named") {
  Experiment experiment = three_pairs();
  experiment.runs[3].series[0].points.pop_back();
  CHECK(noted(compare(experiment), "the last val_loss is of an earlier epoch than the planned one: run 3"));
}

TEST_CASE("epoch times by site count every run, unfinished ones too") {
  Experiment experiment = three_pairs();
  experiment.runs[0].state = State::failed;
  const Comparison result = compare(experiment);
  CHECK(result.sites == std::vector<std::string>{"delta", "anvil"});
  REQUIRE(result.site_times.size() == 2);
  // Jobs 0, 1 and 2 take 2, 3 and 4 s an epoch. anvil: run 0's job 1, run 1's jobs 0 and 2, run 2's job 2.
  CHECK(result.site_times[1].site == "anvil");
  CHECK(result.site_times[1].summary.n == 4);
  CHECK(result.site_times[1].summary.mean == near((3 + 2 + 4 + 4) / 4.0));
  CHECK(result.site_times[1].summary.median == near(3.5));
}

TEST_CASE("which way is better is read from the name") {
  struct Case {
    const char* name;
    Goal goal;
  };
  for (const Case& c : {Case{"val_loss", Goal::lowest}, Case{"accuracy", Goal::highest}, Case{"val_acc", Goal::highest},
                        Case{"val-AUROC", Goal::highest}, Case{"spearman", Goal::highest}, Case{"rmse", Goal::lowest},
                        Case{"trace", Goal::lowest}, Case{"", Goal::lowest}}) {
    CAPTURE(c.name);
    CHECK(guess_goal(c.name) == c.goal);
  }
}

}  // namespace
}  // namespace godwit::report
