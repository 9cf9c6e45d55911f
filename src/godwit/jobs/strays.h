// Processes that a dead supervisor left behind.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "godwit/jobs/exit_log.h"

namespace godwit::jobs {

// What every job carries in its environment, so that its processes can be told from all others.
inline constexpr std::string_view kAttemptVariable = "GODWIT_ATTEMPT";
inline constexpr std::string_view kStateVariable = "GODWIT_STATE";

// What names a state directory on this machine: its device and inode, so that a copy is another one.
std::string state_id(const std::string& state_dir);

// Kills, with its process group, every process that was in a predecessor's session or that carries the state's id,
// until none is left (or 5 s have passed: one in an uninterruptible wait). Returns how many processes there were.
int kill_strays(const std::string& state, std::span<const Predecessor> predecessors);

}  // namespace godwit::jobs
