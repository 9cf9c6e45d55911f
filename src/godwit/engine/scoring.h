// Runs evaluation jobs outside the Dag, on checkpoints that no training job wrote: same command, same site, other
// input. Nothing of the experiment is touched: no output comes back, no journal is written.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"
#include "godwit/jobs/executor.h"

namespace godwit::engine {

struct ScoreRequest {
  dag::NodeId node = 0;  // the evaluation job to repeat
  dag::SiteId site = 0;
  std::string name;               // unlike the others': names the attempt and its log
  std::string checkpoint_folder;  // its contents stand in for those of the run's checkpoint; absolute
};

struct Score {
  std::vector<Json> lines;  // of its metrics file, in order; objects
  std::string failure;      // why there is none: a clause for people; empty: it succeeded
};

class Scorer {
 public:
  // `log_folder`: absolute; what the jobs print to standard error goes to <name>.err in it.
  Scorer(const dag::Graph& graph, jobs::JobExecutor& executor, std::string log_folder);

  // Runs all of them, as many at once as the executor has slots, and waits. `progress` hears how many have ended, and
  // says whether to go on; where it does not, what runs is stopped, and the rest fails as "stopped".
  std::vector<Score> run(std::span<const ScoreRequest> requests, const std::function<bool(std::size_t)>& progress);

 private:
  jobs::Attempt attempt_of(const ScoreRequest& request) const;

  const dag::Graph& graph_;
  jobs::JobExecutor& executor_;
  std::string log_folder_;
  std::string id_;  // of this Scorer's attempts
};

}  // namespace godwit::engine
