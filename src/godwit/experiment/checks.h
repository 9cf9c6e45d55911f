// What can be known about a planned experiment without running it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/dag/graph.h"
#include "godwit/experiment/spec.h"
#include "godwit/jobs/job_spec.h"
#include "godwit/sites/machine.h"
#include "godwit/sites/site.h"

namespace godwit::experiment {

// Runs whose files and requests are looked at one by one, where these depend on the run's variables.
inline constexpr std::size_t kRunsChecked = 1000;

// Values of variables whose quotes, spaces and macros are looked at one by one.
inline constexpr std::size_t kValuesChecked = 10'000;

struct Checked {
  std::vector<jobs::ResourceSpec> asked;  // the most that a job asks for at each site
  std::set<std::string> files;            // that jobs at local sites run and read, absolute
};

// Resolves jobs at their sites: descriptions that become no job, requests that no site can meet, files that are not
// there. `sites` are those of the graph, in its order. Faults go to `diagnostics`; what the definition may say but this
// version cannot do goes to `blockers`. Where there are errors already, what may come of them is not said again; where
// the values of the variables are not known, nothing is said of statements that use them.
enum class ValuesKnown : std::uint8_t { no, yes };
Checked check_jobs(const ExperimentSpec& spec, const std::vector<sites::Site>& sites, const sites::Machine& machine,
                   const dag::Graph& graph, Diagnostics& diagnostics, std::vector<Diagnostic>& blockers,
                   ValuesKnown values = ValuesKnown::yes);

}  // namespace godwit::experiment
