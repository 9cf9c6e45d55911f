// For tests: lets the test program be the supervisor's program, too. Include it in one test file of a program.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "godwit/base/file.h"
#include "godwit/base/text.h"
#include "godwit/jobs/supervisor.h"

namespace godwit::jobs {

// Runs before main(): with "supervise DIR" behind the program's name the process is a supervisor and never returns.
inline const bool kIsNoSupervisor = [] {
  const std::string command = read_file("/proc/self/cmdline");
  const std::vector<std::string_view> words = split(command, '\0');
  if (words.size() < 3 || words[1] != "supervise") return true;
  ::_exit(supervise(std::string(words[2])));
}();

}  // namespace godwit::jobs
