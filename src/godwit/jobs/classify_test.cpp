#include "godwit/jobs/classify.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

namespace godwit::jobs {
namespace {

int exited(int code) {
  return code << 8;
}

TEST_CASE("what the supervisor saw becomes an outcome and a sentence") {
  JobSpec spec;
  spec.resources.memory_mb = 1000;
  spec.time_limit_s = 60;
  spec.grace_s = 7;
  constexpr std::uint64_t kNearMemory = std::uint64_t{950} * 1024;
  struct Case {
    wire::Cause cause;
    int status;
    bool kernel;
    std::uint64_t peak_kb;
    Outcome outcome;
    const char* detail;
  };
  using enum wire::Cause;
  const std::vector<Case> cases{
      {itself, exited(0), false, 0, Outcome::exited, ""},
      {itself, exited(85), false, 0, Outcome::checkpointed, ""},
      {itself, exited(1), false, kNearMemory, Outcome::exited, ""},
      {itself, SIGSEGV | 0x80, false, 0, Outcome::signaled, "signal 11 (Segmentation fault); it dumped core"},
      {itself, SIGKILL, false, 1000, Outcome::signaled, "signal 9"},
      {itself, SIGKILL, false, kNearMemory, Outcome::out_of_memory, "950 MB of memory, near the 1000 MB it asked for"},
      {itself, SIGKILL, true, 1000, Outcome::out_of_memory, "the kernel's out-of-memory killer"},
      {itself, exited(137), true, 1000, Outcome::out_of_memory, "the kernel's out-of-memory killer"},
      {itself, exited(137), false, kNearMemory, Outcome::exited, ""},
      {out_of_memory, SIGKILL, false, std::uint64_t{2048} * 1024, Outcome::out_of_memory,
       "used 2 GB of memory; it asked for 1000 MB"},
      {terminated, SIGTERM, false, 0, Outcome::evicted, "SIGTERM"},
      {terminated, exited(85), false, 0, Outcome::evicted, "SIGTERM"},
      {terminated, exited(0), false, 0, Outcome::exited, ""},
      {terminated, SIGKILL, false, kNearMemory, Outcome::evicted, "killed after 7 s of grace"},
      {killed, SIGKILL, false, kNearMemory, Outcome::evicted, "at once"},
      {time_limit, SIGTERM, false, 0, Outcome::time_limit, "its time limit is 60 s"},
      {time_limit, exited(85), false, 0, Outcome::checkpointed, "time limit of 60 s"},
      {time_limit, exited(0), false, 0, Outcome::exited, ""},
      {lost, 0, false, 0, Outcome::lost, "supervisor"},
      {withdrawn, 0, false, 0, Outcome::evicted, kWithdrawn},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.cause));
    CAPTURE(c.status);
    wire::Exit exit;
    exit.cause = c.cause;
    exit.status = c.status;
    exit.kernel_killed = c.kernel;
    exit.peak_memory_kb = c.peak_kb;
    exit.wall_us = 61'400'000;
    const Ending ending = classify(exit, spec);
    CHECK(to_string(ending.outcome) == to_string(c.outcome));
    CAPTURE(ending.detail);
    CHECK(ending.detail.find(c.detail) != std::string::npos);
    CHECK(ending.use.wall_s == doctest::Approx(61.4));
  }
}

TEST_CASE("what was not started says what to look at") {
  wire::Exit exit;
  exit.cause = wire::Cause::not_started;
  exit.what = "cannot execute ./train.py";
  exit.error = ENOENT;
  CHECK(
      classify(exit, {}).detail ==
      "cannot execute ./train.py: No such file or directory (or the interpreter that its first line names is missing)");
  exit.error = EACCES;
  CHECK(classify(exit, {}).detail == "cannot execute ./train.py: Permission denied (is it executable?)");
}

TEST_CASE("being told to leave, checkpointing, vanishing and full disks are nobody's fault") {
  const auto wrong = [](Outcome outcome, int code) {
    Ending ending;
    ending.outcome = outcome;
    ending.exit_code = code;
    return went_wrong(ending);
  };
  CHECK_FALSE(wrong(Outcome::exited, 0));
  CHECK(wrong(Outcome::exited, 1));
  CHECK(wrong(Outcome::out_of_memory, 0));
  for (const Outcome outcome : {Outcome::checkpointed, Outcome::evicted, Outcome::lost, Outcome::disk_full})
    CHECK_FALSE(wrong(outcome, 85));
}

}  // namespace
}  // namespace godwit::jobs
