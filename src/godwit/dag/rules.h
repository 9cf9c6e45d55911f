// What is to become of training runs and their checkpoints while they run: said by the experiment, carried out by the
// engine. Nothing of it changes what a job is, so the rules may change while an experiment lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "godwit/base/goal.h"

namespace godwit::dag {

// A metric that jobs report. An evaluation job's has "eval." before its own name.
struct Metric {
  std::string name;
  Goal goal = Goal::lowest;

  bool of_evaluation() const { return name.starts_with("eval."); }
  // As the lines of the job name it.
  std::string_view own_name() const { return std::string_view(name).substr(of_evaluation() ? 5 : 0); }
};

// Which of a run's checkpoints stay.
struct KeepRule {
  std::uint32_t last = 1;        // the newest: at least 1, a run goes on from it
  std::uint32_t best = 0;        // by `metric`
  std::uint32_t every = 0;       // the first at or after every so-manyth epoch; 0: none
  std::optional<Metric> metric;  // where `best` is not 0
};

// When a run has stopped getting better (engine/early_stop.h).
struct EarlyStopRule {
  Metric metric;
  std::uint32_t patience = 1;  // epochs
  double min_delta = 0;        // an improvement is larger than that
};

// Asynchronous successive halving (engine/asha.h). Resources are counted in training jobs, so that rungs lie where a
// run can wait.
struct AshaRule {
  Metric metric;
  std::uint32_t reduction = 3;
  std::uint32_t grace = 1;  // jobs before the first rung
  std::uint32_t max = 0;    // jobs; 0: as many as the longest run has
};

struct Rules {
  std::string checkpoint;       // the file that every training job leaves, below its checkpoint's folder; empty: none
  bool metrics_return = false;  // the metrics files come back, also without Godwit
  std::optional<KeepRule> keep;
  std::optional<EarlyStopRule> early_stop;
  std::optional<AshaRule> asha;
};

}  // namespace godwit::dag
