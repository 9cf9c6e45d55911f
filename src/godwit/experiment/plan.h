// From experiment.yaml to a Dag that can be written or run.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/dag/earlier.h"
#include "godwit/dag/graph.h"
#include "godwit/experiment/spec.h"
#include "godwit/jobs/job_spec.h"
#include "godwit/placement/policy.h"
#include "godwit/sites/site.h"

namespace godwit::experiment {

inline constexpr std::uint64_t kDefaultLimit = 1'000'000;  // jobs

struct LoadOptions {
  // experiment.yaml; empty: experiment.yaml, else Experiment.yaml, in the current directory. A directory: in it.
  std::string file;
  // --sites; empty: sites.yaml, else resources.yaml, beside the experiment, else none.
  std::string sites_file;
  // A sweep that makes more jobs than this is an error.
  std::uint64_t limit = kDefaultLimit;
  // What the experiment came to before, where it has been started: then it is planned as a change of that.
  const dag::Earlier* earlier = nullptr;
  // Plan the experiment's rehearsal instead of it: see rehearsal.h.
  bool rehearse = false;
};

// A variable as `plan` shows it.
struct VariableSummary {
  static constexpr std::size_t kMostValues = 1000;
  std::string name;
  std::string type;
  std::string description;
  std::uint64_t count = 1;          // of its values
  std::vector<std::string> values;  // the first of them, in order of appearance
};

// What the definition comes to.
struct Planned {
  ExperimentSpec spec;
  // The sites that take part, in the order of graph.sites(): sites[id] is the site of that SiteId.
  std::vector<sites::Site> sites;
  std::string sites_file;  // where they were read; empty: built in, or the experiment's own
  dag::Graph graph;        // frozen
  placement::Options placement;
  std::vector<jobs::ResourceSpec> asked;  // the most that a job asks for at each site
  Json source;                            // the files it was read from: {"experiment":{…},"sites":{…}}
  std::set<std::string> files;            // that jobs run and read, absolute; see code.h

  std::vector<VariableSummary> variables;
  std::string shape;  // "10 × 3": the sweep

  // The definition is right, but this version or machine cannot run it: containers, URLs, executors to come.
  std::vector<Diagnostic> blockers;
  std::vector<Diagnostic> warnings;

  // Why the node is where it is: the `reason` of its `placed` event.
  std::string placement_reason(dag::NodeId node) const;
};

// The experiment file that `file` means (see LoadOptions), as messages name it. Throws InputError where there is none.
std::string find_experiment(const std::string& file);

// Reads, checks and plans. Throws InputError with everything that is wrong.
Planned load_and_plan(const LoadOptions& options);

// Throws InputError with the blockers, where there are any: for commands that run something.
void require_runnable(const Planned& planned);

}  // namespace godwit::experiment
