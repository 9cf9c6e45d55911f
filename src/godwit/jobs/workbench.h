// A sandbox like an attempt's, for a person to look round in: the same inputs, checkpoint, program and environment, in
// a folder of its own (<state>/debug/…), apart from the sandboxes that executors know of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "godwit/jobs/attempt.h"
#include "godwit/jobs/launch.h"
#include "godwit/jobs/sandbox.h"

namespace godwit::jobs {

class Workbench {
 public:
  // `setup`: the site's lines, where the spec has none. Makes nothing yet.
  Workbench(const std::string& state_dir, Attempt attempt, std::vector<std::string> setup);

  // Where the job would run: the sandbox, or its directory where it has none.
  std::string folder() const;
  // Whether an earlier attempt of the node left a checkpoint that the sandbox will hold.
  bool has_spool() const;

  // Makes the sandbox. Throws TransferError where an input cannot be brought.
  void build();
  // Takes away what build() made.
  void remove() const;
  // Lets it stay; what a killed process left without saying so goes at the next build().
  void keep() const;

  // The job's own command, and as a line for a shell.
  std::vector<std::string> command() const;
  std::string command_line() const;

  // A process in the sandbox, all that execve takes.
  struct Process {
    std::string folder, program;
    std::vector<std::string> arguments;
    Environment environment;
    // Turns this process into it; exits with 127 where that fails.
    [[noreturn]] void become() const;
  };
  // `command`, searched by PATH, after the setup lines and with the job's environment.
  Process process(const std::vector<std::string>& command,
                  const std::vector<std::pair<std::string, std::string>>& secrets) const;

 private:
  void remove_old() const;

  std::string parent_;  // <state>/debug
  std::string root_;    // a state directory of its own
  std::string spools_;
  Attempt attempt_;
  std::vector<std::string> setup_;
};

}  // namespace godwit::jobs
