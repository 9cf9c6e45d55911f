// Runs become nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "godwit/dag/graph.h"
#include "godwit/experiment/runs.h"
#include "godwit/experiment/site_choice.h"
#include "godwit/experiment/spec.h"

namespace godwit::experiment {

// The variables that Godwit itself gives to a run's nodes, beside the user's.
const std::vector<std::string>& bookkeeping_variables();

struct Templates {
  dag::Template train;
  std::optional<dag::Template> evaluate;
  std::vector<dag::Template> services;
};

// The site that services run at: the first that jobs may run at.
dag::SiteId service_site(const SiteChoice& choice);

// The frozen graph. Nodes of a run stand together, in the order of their epochs.
dag::Graph build_graph(const ExperimentSpec& spec, const SiteChoice& choice, const sweep::Sweep& sweep,
                       const RunList& runs, Templates templates);

}  // namespace godwit::experiment
