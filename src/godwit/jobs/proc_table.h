// What /proc says about the machine's processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace godwit::jobs {

struct Process {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  char state = '?';               // as in /proc/<pid>/stat; Z and X are dead
  std::uint64_t start_ticks = 0;  // clock ticks after boot
  std::uint64_t resident_kb = 0;

  bool dead() const { return state == 'Z' || state == 'X' || state == 'x'; }
};

// nullopt where it is gone.
std::optional<Process> process(pid_t pid);
// Every process there is, by one pass over /proc.
std::vector<Process> all_processes();
// This process's children.
std::vector<pid_t> own_children();
// The value of a variable in the environment that the process started with; nullopt where it has none, is gone, or
// may not be read.
std::optional<std::string> environment_value(pid_t pid, std::string_view name);
// Memory that is its own, plus its share of what it shares (PSS), in KiB; nullopt where the kernel does not tell.
std::optional<std::uint64_t> proportional_kb(pid_t pid);
// How many processes the kernel's out-of-memory killer has killed since boot; 0 where it does not tell.
std::uint64_t kernel_oom_kills();

}  // namespace godwit::jobs
