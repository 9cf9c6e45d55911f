// What a rehearsal showed: at each site, whether a run begins, resumes and is evaluated there, what that takes, and how
// far the site's numbers are from the first site's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/journal/view.h"

namespace godwit::report {

// How the rehearsal was planned: see experiment/rehearsal.h.
struct RehearsalLayout {
  std::string results;             // folder of its runs, absolute
  std::string checkpoint;          // the file that travels along a run; empty: none
  std::vector<std::string> sites;  // in the order of the runs that begin there
  std::uint32_t epochs = 1;        // of each job
  bool evaluates = false;
};

struct RehearsalStep {
  enum class Result : std::uint8_t { passed, failed, not_reached };
  std::string node;
  Result result = Result::not_reached;
  std::string why;  // of a failure
  double wall_s = 0;
  std::uint64_t peak_memory_kb = 0;
  std::uint64_t asked_memory_mb = 0;  // 0: not said
};

std::string_view to_string(RehearsalStep::Result result);

// The number that differs most from the first site's, relative to the larger of the two.
struct Divergence {
  std::string metric;
  double here = 0, there = 0;
  double relative = 0;
  std::size_t metrics = 0;  // how many were compared
};

struct RehearsedSite {
  std::string name;
  RehearsalStep begins, resumes;
  std::optional<RehearsalStep> evaluates;
  std::uint64_t checkpoint_bytes = 0;  // of the run that began here; 0: none
  double epoch_s = 0;                  // wall time of the job that began here, by epoch
  // Beside the first site, which is its own reference: nothing there, or where a job failed.
  std::optional<Divergence> training;  // the same seed and values, trained there and here
  std::optional<Divergence> golden;    // one checkpoint, evaluated there and here
  std::optional<double> weights;       // relative distance of the checkpoints of the first jobs
  bool same_bytes = false;             // these checkpoints are equal
};

struct Rehearsal {
  Micros time = 0;  // UTC
  std::uint32_t epochs = 1;
  std::vector<RehearsedSite> sites;
  std::vector<std::string> faults;  // what would go wrong, a sentence each
  std::vector<std::string> notes;   // what deserves a look

  bool passed() const { return faults.empty(); }
};

// Throws InputError where a checkpoint is no safetensors although its name says so.
Rehearsal read_rehearsal(const journal::View& view, const RehearsalLayout& layout);

Json to_json(const Rehearsal& rehearsal);

}  // namespace godwit::report
