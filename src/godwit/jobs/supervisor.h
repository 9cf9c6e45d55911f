// The small process that local jobs, scripts and services belong to: one per state directory, detached, so that the
// engine can die and come back without them noticing. Nobody talks to it but LocalExecutor, over a socket.
//
// What it keeps in the state directory: supervisor.lock (who it is), supervisor.sock (mode 0600), supervisor.log (what
// went wrong), exits.log (exit_log.h).
#pragma once

#include <cstdint>
#include <string>

namespace godwit::jobs {

inline constexpr const char* kSupervisorSocket = "supervisor.sock";
inline constexpr const char* kSupervisorLock = "supervisor.lock";
inline constexpr const char* kSupervisorLog = "supervisor.log";
inline constexpr const char* kExitLog = "exits.log";

struct SupervisorOptions {
  std::int64_t idle_s = 30;  // ends after so long without jobs and clients
};

// Becomes the supervisor of `state_dir`: the calling process returns 0 at once, a child of its own in a new session
// goes on. The child writes one line to stdout, "ready" when it can be connected to or else what is wrong, and then
// lets go of stdout. What a dead predecessor left is killed and recorded as lost before that.
//
// Must be called while the process has one thread. In the child it returns the exit code when all is done.
int supervise(const std::string& state_dir, const SupervisorOptions& options = {});

}  // namespace godwit::jobs
