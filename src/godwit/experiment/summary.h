// What a planned experiment comes to, as numbers and as JSON: what `godwit plan` prints.
#pragma once

#include <cstdint>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/experiment/plan.h"

namespace godwit::experiment {

struct SiteLoad {
  std::uint64_t training_jobs = 0;
  std::uint64_t evaluation_jobs = 0;
};

struct Summary {
  std::uint64_t runs = 0, baseline_runs = 0;
  std::uint64_t training_jobs = 0, evaluation_jobs = 0, services = 0;
  std::uint64_t training_edges = 0;              // from one job of a run to its next
  std::uint64_t fewest_jobs = 0, most_jobs = 0;  // training jobs of a run
  std::vector<SiteLoad> at_site;                 // by SiteId
};

Summary summarize(const Planned& planned);

// The sites that a run's training jobs visit, in order. One entry per run, for the first `most` runs.
std::vector<std::vector<dag::SiteId>> site_paths(const Planned& planned, std::size_t most);

// The whole as JSON: counts, variables with their values, sites with what is asked of them, the submit descriptions,
// the first runs with their paths; every node with its variables where `with_nodes`.
Json to_json(const Planned& planned, bool with_nodes);

}  // namespace godwit::experiment
