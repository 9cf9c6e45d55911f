// Which sites an experiment uses.
#pragma once

#include <string>
#include <vector>

#include "godwit/experiment/spec.h"
#include "godwit/placement/policy.h"
#include "godwit/sites/site.h"

namespace godwit::experiment {

struct SiteChoice {
  std::string file;  // of the catalogue; empty: none, or the experiment's own
  std::vector<sites::Site> sites;
  // `sites` of it are indices into the above; so are its fixed and baseline sites.
  placement::Options placement;
};

// The sites that `sites:` names, or all there are, and the baseline's. The catalogue is `sites_file`,
// else the experiment's own mapping, else sites.yaml or resources.yaml beside it. Without any, there is this machine,
// as 'default', or as 'local' where the experiment names that. Faults go to `diagnostics`.
SiteChoice choose_sites(const ExperimentSpec& spec, const std::string& sites_file, Diagnostics& diagnostics);

}  // namespace godwit::experiment
