#include "godwit/jobs/classify.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "godwit/base/units.h"

namespace godwit::jobs {
namespace {

// A peak this near to the request makes the request the likely reason of an unexplained SIGKILL.
constexpr double kNear = 0.9;

bool near_request(const wire::Exit& exit, const JobSpec& spec) {
  const auto asked_kb = static_cast<double>(spec.resources.memory_mb) * 1024;
  return asked_kb > 0 && static_cast<double>(exit.peak_memory_kb) >= kNear * asked_kb;
}

std::string asked_text(const JobSpec& spec) {
  return format_memory_mb(spec.resources.memory_mb);
}

std::string hint_for_errno(int error) {
  switch (error) {
    case ENOENT:
      return " (or the interpreter that its first line names is missing)";
    case EACCES:
      return " (is it executable?)";
    case ENOEXEC:
      return " (a script needs a first line such as #!/bin/sh)";
    default:
      return {};
  }
}

// A SIGKILL that we did not send: the kernel's killer, if the evidence says so.
bool was_out_of_memory(const wire::Exit& exit, const JobSpec& spec, Ending& ending) {
  if (exit.kernel_killed) {
    ending.detail = fmt::format("killed while the kernel's out-of-memory killer was at work, at {} of memory",
                                format_bytes(exit.peak_memory_kb * 1024));
    if (spec.resources.memory_mb != 0) ending.detail += fmt::format(" (it asked for {})", asked_text(spec));
    return true;
  }
  if (!near_request(exit, spec)) return false;
  ending.detail = fmt::format("killed by SIGKILL at {} of memory, near the {} it asked for",
                              format_bytes(exit.peak_memory_kb * 1024), asked_text(spec));
  return true;
}

void by_itself(const wire::Exit& exit, const JobSpec& spec, Ending& ending) {
  const bool killed = ending.signal == SIGKILL;
  const bool says_killed = ending.exit_code == 128 + SIGKILL && exit.kernel_killed;
  if ((killed || says_killed) && was_out_of_memory(exit, spec, ending)) {
    ending.outcome = Outcome::out_of_memory;
  } else if (ending.signal != 0) {
    ending.outcome = Outcome::signaled;
    ending.detail = fmt::format("ended by signal {} ({})", ending.signal, ::strsignal(ending.signal));
    if (WCOREDUMP(exit.status)) ending.detail += "; it dumped core";
  } else if (ending.exit_code == spec.checkpoint_exit_code && spec.checkpoint_exit_code != 0) {
    ending.outcome = Outcome::checkpointed;
  } else {
    ending.outcome = Outcome::exited;
  }
}

}  // namespace

Ending classify(const wire::Exit& exit, const JobSpec& spec) {
  Ending ending;
  if (WIFEXITED(exit.status)) ending.exit_code = WEXITSTATUS(exit.status);
  if (WIFSIGNALED(exit.status)) ending.signal = WTERMSIG(exit.status);
  ending.use.wall_s = static_cast<double>(exit.wall_us) / 1e6;
  ending.use.cpu_s = static_cast<double>(exit.cpu_us) / 1e6;
  ending.use.peak_memory_kb = exit.peak_memory_kb;
  ending.started = exit.started;
  ending.ended = exit.ended;
  const bool finished = ending.signal == 0 && ending.exit_code == 0;
  switch (exit.cause) {
    case wire::Cause::itself:
      by_itself(exit, spec, ending);
      break;
    case wire::Cause::terminated:
      // One that was done all the same has succeeded.
      ending.outcome = finished ? Outcome::exited : Outcome::evicted;
      if (!finished) ending.detail = "told to leave by SIGTERM";
      if (ending.signal == SIGKILL) ending.detail += fmt::format("; killed after {} s of grace", spec.grace_s);
      break;
    case wire::Cause::killed:
      ending.outcome = Outcome::evicted;
      ending.detail = "killed at once, as asked";
      break;
    case wire::Cause::out_of_memory:
      ending.outcome = Outcome::out_of_memory;
      ending.detail =
          fmt::format("used {} of memory; it asked for {}", format_bytes(exit.peak_memory_kb * 1024), asked_text(spec));
      break;
    case wire::Cause::time_limit:
      if (finished) {
        ending.outcome = Outcome::exited;
      } else if (ending.signal == 0 && ending.exit_code == spec.checkpoint_exit_code) {
        ending.outcome = Outcome::checkpointed;
        ending.detail = fmt::format("checkpointed at its time limit of {} s", spec.time_limit_s.value_or(0));
      } else {
        ending.outcome = Outcome::time_limit;
        ending.detail =
            fmt::format("ran for {:.0f} s; its time limit is {} s", ending.use.wall_s, spec.time_limit_s.value_or(0));
      }
      break;
    case wire::Cause::lost:
      ending.outcome = Outcome::lost;
      ending.detail = "the supervisor that ran it died";
      break;
    case wire::Cause::not_started:
      ending.outcome = Outcome::not_started;
      ending.detail = exit.what;
      if (exit.error != 0)
        ending.detail += fmt::format(": {}{}", std::strerror(exit.error), hint_for_errno(exit.error));
      break;
    case wire::Cause::withdrawn:
      ending.outcome = Outcome::evicted;
      ending.detail = kWithdrawn;
      break;
  }
  return ending;
}

bool went_wrong(const Ending& ending) {
  switch (ending.outcome) {
    case Outcome::checkpointed:
    case Outcome::evicted:
    case Outcome::lost:
    case Outcome::canceled:
    case Outcome::disk_full:
      return false;
    default:
      return !ending.success();
  }
}

}  // namespace godwit::jobs
