// Runs jobs on this machine, by way of the state directory's supervisor.
//
// Attempts whose phase is `job` take a slot of their site; scripts and services start at once. An attempt's standard
// streams go straight to their files: the first attempt of a node truncates them, later ones append. A job gets, beside
// its own environment, GODWIT_ATTEMPT (AttemptKey::text), GODWIT_STATE, GODWIT_SITE, GODWIT_SANDBOX and, where it asks
// for GPUs, CUDA_VISIBLE_DEVICES.
//
// cancel() ends in Outcome::evicted, whether the attempt ran or still waited, and whether it was told by SIGTERM or,
// with `now`, killed: it may go on later. One that was done all the same ends as it was done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "godwit/jobs/executor.h"

namespace godwit::jobs {

// What a local site has for all its jobs together; zeros mean "no limit" (of GPUs: none).
struct LocalSite {
  std::string name;
  std::uint32_t slots = 0;
  std::uint32_t cpus = 0;
  std::uint64_t memory_mb = 0;
  std::uint32_t gpus = 0;
  std::vector<std::string> setup;  // shell lines before each job whose spec brings none
};

struct LocalExecutorOptions {
  std::string state_dir;       // made where absent
  std::string spool_dir = {};  // where checkpoints wait for their node's next attempt; empty: state_dir/spool
  std::vector<LocalSite> sites;
  // What, followed by the state directory, becomes the supervisor; empty: this program with `supervise`.
  std::vector<std::string> supervisor_command;
  unsigned threads = 2;  // that move files
  // Name and value; they reach jobs that name them by way of the supervisor's memory.
  std::vector<std::pair<std::string, std::string>> secrets;
  std::size_t kept_sandboxes = 10;  // of attempts that did not succeed
};

// Starts the supervisor where there is none. Throws Error where it does not start. poll() and submit() throw, too,
// where a supervisor that died cannot be replaced; jobs that it ran end as lost.
//
// On attach(), metrics are reported from their first line again: the caller knows by the offsets what it has.
std::unique_ptr<JobExecutor> make_local_executor(LocalExecutorOptions options);

}  // namespace godwit::jobs
