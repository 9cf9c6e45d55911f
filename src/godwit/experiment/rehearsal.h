// A rehearsal: the experiment's first run in small, on each of its sites, before the real ones begin.
//
// Of n sites it makes n runs with the same values and seed, each of two jobs: run i begins at site i and resumes at
// site i + 1 (the last one at the first), so that each site begins a run, goes on with another site's checkpoint, and
// evaluates both. The checkpoint of the first site's job is evaluated at every other site too (nodes `golden-SITE`):
// the same weights and data, so what differs is the sites' arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"

namespace godwit::experiment {

struct ExperimentSpec;

// The key `rehearse` of an experiment.
struct RehearsalSpec {
  Position position;
  std::uint32_t epochs = 1;       // of each of its jobs
  std::optional<double> scale;    // how many times as long an epoch of the experiment takes as one of the rehearsal
  std::vector<yaml::Entry> vars;  // values in place of the experiment's
};

// Reads the value of the key. Faults go to `diagnostics`.
RehearsalSpec read_rehearsal(const yaml::Node& node, Diagnostics& diagnostics);

// Where a rehearsal keeps its state, below the experiment's own.
inline constexpr std::string_view kRehearsalFolder = "rehearsal";

// What the key asks of the experiment must be there.
void check_rehearsal(const ExperimentSpec& spec, Diagnostics& diagnostics);

// Makes the experiment its own rehearsal, except for its sites, which are not chosen yet.
void turn_into_rehearsal(ExperimentSpec& spec);

// "golden-SITE".
std::string golden_node(std::string_view site);

}  // namespace godwit::experiment
