#include "godwit/jobs/strays.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/jobs/proc_table.h"
#include "godwit/store/lock.h"

namespace godwit::jobs {
namespace {

// A session's number cannot be given away while it has members, so members of a dead supervisor's session are its
// jobs' processes, whatever they did to their environment; unless its leader lives: then the number is another's.
bool in_session_of(const Process& process, const Predecessor& predecessor, const std::string& boot_id) {
  return predecessor.boot_id == boot_id && process.session == predecessor.pid && process.pid != predecessor.pid &&
         process.start_ticks >= predecessor.start_ticks;
}

std::vector<Process> find_strays(const std::string& state, std::span<const Predecessor> predecessors) {
  const std::string boot_id = store::this_process({}).boot_id;
  const std::vector<Process> all = all_processes();
  const auto alive = [&](const Predecessor& predecessor) {
    return std::any_of(all.begin(), all.end(), [&](const Process& p) { return p.pid == predecessor.pid && !p.dead(); });
  };
  std::vector<Predecessor> dead;
  for (const Predecessor& predecessor : predecessors)
    if (!alive(predecessor)) dead.push_back(predecessor);
  std::vector<Process> strays;
  for (const Process& process : all) {
    if (process.dead() || process.pid == ::getpid()) continue;
    const bool of_session = std::any_of(dead.begin(), dead.end(), [&](const Predecessor& predecessor) {
      return in_session_of(process, predecessor, boot_id);
    });
    if (of_session || environment_value(process.pid, kStateVariable) == state) strays.push_back(process);
  }
  return strays;
}

}  // namespace

std::string state_id(const std::string& state_dir) {
  struct stat info{};
  if (::stat(state_dir.c_str(), &info) != 0) throw SystemError("cannot look at " + state_dir, errno);
  return fmt::format("{:x}-{:x}", info.st_dev, info.st_ino);
}

int kill_strays(const std::string& state, std::span<const Predecessor> predecessors) {
  constexpr int kTries = 500;
  std::set<pid_t> killed;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<Process> strays = find_strays(state, predecessors);
    if (strays.empty()) break;
    for (const Process& stray : strays) {
      // Its own group, but never ours: a job that is told to leave its group cannot join the supervisor's.
      if (stray.group > 1 && stray.group != ::getpgrp()) ::kill(-stray.group, SIGKILL);
      ::kill(stray.pid, SIGKILL);
      killed.insert(stray.pid);
    }
    ::usleep(10'000);
  }
  return static_cast<int>(killed.size());
}

}  // namespace godwit::jobs
