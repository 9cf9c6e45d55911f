// From a node to something an executor can run: the job by its submit description, the scripts by their argv.
#pragma once

#include <optional>
#include <string>

#include "godwit/base/content.h"
#include "godwit/dag/graph.h"
#include "godwit/jobs/attempt.h"

namespace godwit::engine {

// What DAGMan's script macros stand for.
struct ScriptContext {
  std::uint32_t retries_used = 0;
  std::size_t failed_nodes = 0;
  const jobs::Ending* job = nullptr;  // for POST scripts
  std::string job_id;
};

// What is known of a job beyond its description.
struct Amendments {
  std::optional<std::uint64_t> memory_mb;  // instead of what the description asks
  std::string input;                       // a folder, relative to the Dag's directory
  std::optional<Content> input_content;    // what it must hold
};

class AttemptBuilder {
 public:
  AttemptBuilder(const dag::Graph& graph, std::string dag_uuid) : graph_(graph), dag_uuid_(std::move(dag_uuid)) {}

  jobs::AttemptKey key(dag::NodeId node, std::uint32_t attempt, jobs::Phase phase) const;
  // The node's job (or service) at the site. Throws InputError where the description cannot become a job.
  jobs::Attempt job(dag::NodeId node, dag::SiteId site, std::uint32_t attempt, jobs::Phase phase,
                    const Amendments& amendments = {}) const;
  // The node's script of that phase. Scripts run where the engine runs, in the Dag's directory.
  jobs::Attempt script(dag::NodeId node, std::uint32_t attempt, jobs::Phase phase, const ScriptContext& context) const;

 private:
  const dag::Graph& graph_;
  std::string dag_uuid_;
};

// Replaces $JOB, $RETRY, $MAX_RETRIES, $RETURN, $JOBID and their like in one argument (HTCondor manual, "DAGMan
// Scripts"). $RETURN of a job that a signal ended is minus the signal.
std::string expand_script_macros(std::string_view argument, std::string_view node, std::uint32_t max_retries,
                                 const ScriptContext& context);

}  // namespace godwit::engine
