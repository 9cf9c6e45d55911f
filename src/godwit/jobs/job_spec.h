// What a job is, whatever scheduler runs it: PSI/J's JobSpec and ResourceSpec, with the file movements that a sandbox
// needs. `submit::resolve` makes one from a submit description; executors carry it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "godwit/base/content.h"

namespace godwit::jobs {

// What one job asks for. 0 means "not said".
struct ResourceSpec {
  std::uint32_t cpus = 1;
  std::uint32_t gpus = 0;
  std::uint64_t memory_mb = 0;
  std::uint64_t disk_kb = 0;
};

// A file or folder that goes into the sandbox before the job starts. A relative source starts at JobSpec::directory.
struct InputFile {
  std::string source;                    // path or URL
  std::string name;                      // where it lands, relative to the sandbox; empty: the source's last component
  bool contents_only = false;            // a folder whose contents, not itself, land there (HTCondor's trailing slash)
  std::optional<Content> expected = {};  // what the folder must hold: else the attempt ends as input_changed
};

// A file or folder that comes back when the job ends. A relative target starts at JobSpec::directory.
struct OutputFile {
  std::string name;      // relative to the sandbox
  std::string target;    // path
  bool required = true;  // its absence after exit 0 makes the attempt fail with Outcome::missing_output
  // Comes back however the attempt ends; in the name's last component * stands for any text, and the target is then a
  // folder.
  bool always = false;
};

struct JobSpec {
  std::string name;
  // Paths of executable, inputs and outputs that are relative start here (HTCondor's initialdir): absolute.
  std::string directory;
  // False: the process runs in `directory` itself and nothing is moved (scripts, service nodes).
  bool sandbox = true;

  std::string executable;              // relative to `directory`, absolute, or (transfer_executable false) by PATH
  bool transfer_executable = true;     // copied into the sandbox first
  std::vector<std::string> arguments;  // argv[1…]: no shell ever reads them
  std::vector<std::pair<std::string, std::string>> environment;
  bool inherit_environment = true;   // start from the executor's own environment
  std::vector<std::string> secrets;  // names of variables whose values the executor has; they go on no disk
  std::vector<std::string> setup;    // the site's shell lines that come before the job (module load …)

  std::string stdin_path;   // host path, or empty for /dev/null
  std::string stdout_path;  // host path where the stream ends up, or empty to drop it
  std::string stderr_path;

  std::vector<InputFile> inputs;
  std::vector<OutputFile> outputs;

  // Files (relative to the sandbox) that carry a job's progress. They are kept when an attempt ends early (checkpoint
  // exit, eviction, failure, loss) and laid over the inputs of the node's next attempt.
  std::vector<std::string> checkpoint_files;
  int checkpoint_exit_code = 85;  // "I have checkpointed; continue me": a new attempt, no retry spent

  // JSON lines that the job appends, relative to the sandbox; followed while it runs. Empty: none.
  std::string metrics_file;
  // Not lines but a CSV table with a column `epoch`, which the job may write anew as often as it likes; what it calls
  // its first epoch.
  bool metrics_table = false;
  std::int64_t metrics_first_epoch = 1;

  ResourceSpec resources;
  std::optional<std::int64_t> time_limit_s;
  std::int64_t grace_s = 30;  // between SIGTERM and SIGKILL
};

}  // namespace godwit::jobs
