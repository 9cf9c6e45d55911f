// The comparison of an experiment's training runs: groups, seed-paired differences, loss curves, epoch times by site.
//
// What is computed, with formulas and sources, is explained in docs/explanation/comparison.md. The rule behind all of
// it: only finished runs enter a mean, and what is left out is said in `notes`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "godwit/report/experiment.h"
#include "godwit/report/judgement.h"
#include "godwit/report/landscape.h"
#include "godwit/report/moves.h"
#include "godwit/report/statistics.h"

namespace godwit::report {

struct Metric {
  std::string name;  // an evaluation job's metric has "eval." before its own name
  bool evaluation = false;
  Goal goal = Goal::lowest;
};

struct Options {
  std::string metric;        // the primary metric; empty: the declared one, else val_loss, else the first
  std::optional<Goal> goal;  // of the primary metric; absent: guessed from its name
};

// One metric of one run.
struct RunMetric {
  std::optional<Point> last;  // at the last epoch that reported it; its value may be NaN or infinite
  std::optional<Point> best;  // of the finite values
};

struct CurvePoint {
  int epoch = 0;
  std::size_t n = 0;  // runs with a finite value at this epoch
  double mean = 0;
  double min = 0;
  double max = 0;
  double sd = 0;  // of the sample; 0 for one run

  // 95 % for the mean; nullopt for one run.
  std::optional<Interval> interval() const;
};

// One metric of one group: over its finished runs whose last value is finite.
struct GroupMetric {
  Summary last;
  std::optional<Interval> interval;  // 95 % for the mean of `last`
  Summary best;
  std::size_t not_finite = 0;  // finished runs left out because their last value is NaN or infinite
  std::size_t missing = 0;     // finished runs that never reported the metric
  std::vector<CurvePoint> curve;
};

struct Group {
  std::string name;
  bool baseline = false;
  std::vector<std::size_t> runs;  // indices into Comparison::experiment.runs, unfinished ones too
  std::size_t finished = 0;
  std::vector<GroupMetric> metrics;  // indexed as Comparison::metrics
};

// The runs that share a pair key; where several are migrated or baseline, their mean stands for them.
struct Pair {
  std::string key;
  std::string label;  // the values that vary, and the seed
  std::vector<std::size_t> migrated, baseline;
  double migrated_value = 0;
  double baseline_value = 0;
  double difference = 0;        // migrated - baseline, of the last values
  std::vector<Point> by_epoch;  // the same at each epoch that all of them report
};

// One metric's seed-paired differences, migrated minus baseline.
struct PairedMetric {
  std::vector<Pair> pairs;
  Summary differences;
  std::optional<Interval> interval;  // 95 % for the mean difference
  // The 90 % interval lies within no smaller margin; nullopt for fewer than two pairs.
  std::optional<double> smallest_margin;
  std::vector<CurvePoint> curve;  // of the pairs' differences by epoch
};

// Epoch times at one site, of all runs: an unfinished run's epochs took their time too.
struct SiteTime {
  std::string site;
  std::vector<double> seconds;
  Summary summary;       // seconds
  bool reported = true;  // by the jobs, all of them; false: some are times between the lines that the engine read
};

struct Comparison {
  Experiment experiment;
  std::vector<Metric> metrics;
  std::size_t primary = 0;                          // index into metrics; meaningless where there is none
  std::vector<std::vector<RunMetric>> run_metrics;  // [run][metric]

  // Migrated and baseline where there is a baseline run; otherwise one group for each combination of values.
  std::vector<Group> groups;
  bool has_baseline = false;
  // Where there is a baseline and values vary: one group for each combination of values and each of the two. Empty
  // where no group would have more than one run.
  std::vector<Group> by_values;
  std::vector<std::string> varying;  // the variables that differ between runs

  std::vector<PairedMetric> paired;    // indexed as metrics; empty without a baseline
  std::vector<std::size_t> unpaired;   // finished runs without a finished partner
  std::optional<Judgement> judgement;  // absent where nothing was declared
  std::optional<Moves> moves;          // of the primary metric; absent without a metric
  std::optional<Landscape> landscape;  // where somebody looked: compare() does not
  std::vector<SiteTime> site_times;    // in order of first appearance
  std::vector<std::string> sites;      // every site of a training job, in order of first appearance
  std::vector<std::string> notes;      // what was left out and why: sentences for people

  std::size_t finished() const;
  // Runs whose jobs told where each epoch came from, and those of them that are not what they say.
  std::size_t with_records() const;
  std::size_t invalid() const;
  bool has_metrics() const { return !metrics.empty(); }
};

// Throws InputError where `options.metric` names no metric of the experiment, or `options.goal` contradicts what was
// declared of the primary metric.
Comparison compare(Experiment experiment, const Options& options = {});

// The last value of a run that counts, where it is finite: what enters means, pairs and verdicts.
std::optional<double> usable(const Comparison& comparison, std::size_t run, std::size_t metric);

// Whether every epoch's time was told by its job.
bool epoch_times_reported(const Comparison& comparison);

// The run's values of one metric, or nullptr where it reported none.
const Series* find_series(const Run& run, const Metric& metric);

// "lr=0.1, depth=2": the run's values of the variables that vary; empty where none does.
std::string values_label(const Comparison& comparison, const Run& run);

}  // namespace godwit::report
