// The training runs of an experiment: what its sweep, replicates and baseline come to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/dag/earlier.h"
#include "godwit/experiment/spec.h"
#include "godwit/sweep/sweep.h"

namespace godwit::experiment {

struct Epochs {
  std::uint32_t first = 1, last = 1;
};

struct PlannedRun {
  std::uint32_t number = 0;  // as people name it
  std::uint32_t combination = 0;
  std::uint32_t replicate = 0;
  std::uint32_t pair = 0;  // index of the run that migrates with these values: its own, except in baseline runs
  bool baseline = false;
  std::uint32_t epochs = 1;
  std::uint32_t epochs_per_job = 1;
  std::uint32_t seed = 0;
  std::string uuid;
  // What it was before, and how many of its jobs, with how many epochs, it keeps from then.
  const dag::EarlierRun* earlier = nullptr;
  std::uint32_t kept_jobs = 0;
  std::uint32_t kept_epochs = 0;

  std::uint32_t jobs() const {
    return kept_jobs + (epochs <= kept_epochs ? 0 : (epochs - kept_epochs - 1) / epochs_per_job + 1);
  }
  Epochs epochs_of(std::uint32_t job) const;
  std::uint32_t evaluations(std::uint32_t every) const { return jobs() / every; }
};

class RunList {
 public:
  // The runs that migrate, replicates of a combination together, then the baseline runs in the same order; runs of an
  // `earlier` plan, which must outlive the list, before all others in the order of their numbers. Of a rehearsal, as
  // many copies of the first run as there are `sites`. Faults, and more than `limit` jobs, go to `diagnostics`: then
  // the list is empty.
  RunList(const ExperimentSpec& spec, const sweep::Sweep& sweep, std::size_t sites, const dag::Earlier* earlier,
          std::uint64_t limit, Diagnostics& diagnostics);

  const std::vector<PlannedRun>& runs() const { return runs_; }
  // Runs with the values and replicate of another.
  std::size_t repeated() const { return repeated_; }
  // Training and evaluation jobs.
  std::uint64_t jobs() const { return jobs_; }
  std::size_t width() const { return width_; }
  // Whether the variable has one value in all runs.
  bool same_in_all(std::size_t variable) const { return same_in_all_[variable]; }
  // The run's value of the variable: id in the sweep's strings().
  Interner::Id value_id(const PlannedRun& run, std::size_t variable) const {
    return values_[std::size_t{run.combination} * width_ + variable];
  }

 private:
  friend class RunLister;
  std::size_t width_ = 0;
  std::vector<Interner::Id> values_;  // combinations × variables
  std::vector<bool> same_in_all_;     // by variable
  std::vector<PlannedRun> runs_;
  std::uint64_t jobs_ = 0;
  std::size_t repeated_ = 0;
};

}  // namespace godwit::experiment
