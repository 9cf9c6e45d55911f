// Starting one process, fast: vfork, so that the cost does not grow with the caller's memory.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace godwit::jobs {

struct SpawnRequest {
  const std::string& program;  // a path: nothing is searched
  const std::vector<std::string>& arguments;
  const std::vector<std::string>& environment;
  const std::string& directory;
  const std::string& stdin_path;  // empty: /dev/null
  const std::string& stdout_path;
  const std::string& stderr_path;  // the same path as stdout's: one stream
  bool append_output = false;
};

struct Spawned {
  pid_t pid = -1;
  int error = 0;     // errno where it could not be started
  std::string what;  // "cannot execute ./train", without the errno's text
};

// The child leads its own process group, dies by SIGKILL if the calling thread's process dies, has default signal
// handling, an empty signal mask and no descriptors but 0, 1 and 2 (the caller's others must be close-on-exec; its 0
// and 1 must be /dev/null).
Spawned spawn(const SpawnRequest& request);

}  // namespace godwit::jobs
