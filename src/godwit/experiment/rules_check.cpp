#include "godwit/experiment/rules_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/units.h"

namespace godwit::experiment {
namespace {

void check_early_stop(const ExperimentSpec& spec, const RunList& runs, Diagnostics& diagnostics) {
  if (!spec.early_stop) return;
  std::uint32_t epochs = 0;
  for (const PlannedRun& run : runs.runs()) epochs = std::max(epochs, run.epochs);
  if (spec.early_stop->rule.patience >= epochs)
    diagnostics.warning(spec.early_stop->position,
                        fmt::format("no run is stopped early: none has more than {}", format_count(epochs, "epoch")),
                        fmt::format("patience: {}", spec.early_stop->rule.patience));
}

void check_halving(const ExperimentSpec& spec, const RunList& runs, Diagnostics& diagnostics) {
  if (!spec.asha) return;
  const dag::AshaRule& rule = spec.asha->rule;
  const Position& where = spec.asha->position;
  if (spec.baseline)
    diagnostics.error(where, "'asha' and 'baseline' exclude each other", {},
                      "runs that are chosen by their metric cannot be compared with their controls by it");
  const auto same_cut = [&](const PlannedRun& run) { return run.epochs_per_job == runs.runs().front().epochs_per_job; };
  if (!std::all_of(runs.runs().begin(), runs.runs().end(), same_cut))
    diagnostics.error(where, "'asha' compares runs after equally many epochs, and their jobs have different ones", {},
                      "give all runs the same 'epochs_per_job'");
  std::uint32_t jobs = 0;
  for (const PlannedRun& run : runs.runs()) jobs = std::max(jobs, run.jobs());
  if (rule.max != 0) jobs = std::min(jobs, rule.max);
  const std::uint64_t second = std::uint64_t{rule.grace} * rule.reduction;
  if (jobs < second)
    diagnostics.error(where, "'asha' has nothing to decide: no run has a second rung", {},
                      fmt::format("it is reached after grace × reduction = {} jobs, and runs have {}: fewer "
                                  "'epochs_per_job' make more jobs",
                                  second, jobs));
  if (runs.runs().size() < rule.reduction)
    diagnostics.error(where, "'asha' would end all runs at their first rung", {},
                      fmt::format("of {} runs the best {}th part is none: have at least {} of them", runs.runs().size(),
                                  rule.reduction, rule.reduction));
  if (!rule.metric.of_evaluation() || !spec.evaluation) return;
  for (std::uint64_t rung = rule.grace; rung <= jobs; rung *= rule.reduction)
    if (rung % spec.evaluation->every != 0) {
      diagnostics.error(spec.asha->metric_position, "this metric is not known at every rung", rule.metric.name,
                        fmt::format("a rung is reached after {}, and 'evaluation.every' is {}",
                                    format_count(rung, "job"), spec.evaluation->every));
      return;
    }
}

}  // namespace

void check_rules(const ExperimentSpec& spec, const RunList& runs, Diagnostics& diagnostics) {
  check_early_stop(spec, runs, diagnostics);
  check_halving(spec, runs, diagnostics);
}

}  // namespace godwit::experiment
