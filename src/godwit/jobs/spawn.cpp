#include "godwit/jobs/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

namespace godwit::jobs {
namespace {

// What the child tells its parent, whose memory it shares until it executes.
struct Failure {
  volatile int error = 0;
  const char* volatile doing = nullptr;
  const char* volatile path = nullptr;
};

struct Plan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* directory;
  const char* in;
  const char* out;
  const char* err;  // nullptr: joined with out
  int out_flags;
  pid_t parent;
  Failure* failure;
};

[[noreturn]] void fail(const Plan& plan, const char* doing, const char* path) {
  plan.failure->error = errno;
  plan.failure->doing = doing;
  plan.failure->path = path;
  ::_exit(127);
}

void redirect(const Plan& plan, const char* path, int flags, int to) {
  if (*path == '\0') {
    if (to == STDERR_FILENO && ::dup2(STDIN_FILENO, to) < 0) fail(plan, "cannot redirect", "/dev/null");
    return;
  }
  // Not blocking: a FIFO without a peer must not hold the supervisor.
  const int fd = ::open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd < 0 || ::fcntl(fd, F_SETFL, flags & O_APPEND) != 0 || ::dup2(fd, to) < 0) fail(plan, "cannot open", path);
}

// Between vfork and exec: only system calls, and nothing that the parent would miss.
[[noreturn]] void run_child(const Plan& plan) {
  if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(plan, "cannot prepare", plan.program);
  if (::getppid() != plan.parent) ::_exit(127);  // it died before prctl
  if (::chdir(plan.directory) != 0) fail(plan, "cannot enter", plan.directory);
  // stderr before stdin: an empty path means /dev/null, which is still at 0.
  if (plan.err != nullptr) redirect(plan, plan.err, plan.out_flags, STDERR_FILENO);
  redirect(plan, plan.out, plan.out_flags, STDOUT_FILENO);
  if (plan.err == nullptr && ::dup2(STDOUT_FILENO, STDERR_FILENO) < 0) fail(plan, "cannot open", plan.out);
  redirect(plan, plan.in, O_RDONLY, STDIN_FILENO);
  struct sigaction defaults{};
  defaults.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &defaults, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.argv, plan.envp);
  fail(plan, "cannot execute", plan.program);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));  // execve's C signature
  out.push_back(nullptr);
  return out;
}

}  // namespace

Spawned spawn(const SpawnRequest& request) {
  const std::vector<char*> argv = pointers(request.arguments);
  const std::vector<char*> envp = pointers(request.environment);
  Failure failure;
  const bool joined = !request.stdout_path.empty() && request.stdout_path == request.stderr_path;
  const Plan plan{request.program.c_str(),
                  argv.data(),
                  envp.data(),
                  request.directory.c_str(),
                  request.stdin_path.c_str(),
                  request.stdout_path.c_str(),
                  joined ? nullptr : request.stderr_path.c_str(),
                  O_WRONLY | O_CREAT | (request.append_output ? O_APPEND : O_TRUNC),
                  ::getpid(),
                  &failure};
  // posix_spawn() cannot set the death signal. The child only makes system calls, on memory laid out before.
  const pid_t pid = ::vfork();    // NOLINT(bugprone-unsafe-functions)
  if (pid == 0) run_child(plan);  // NOLINT(clang-analyzer-unix.Vfork)
  if (pid < 0) return {-1, errno, "cannot make a process"};
  if (failure.error == 0) return {pid, 0, {}};
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {-1, failure.error, fmt::format("{} {}", failure.doing, failure.path)};
}

}  // namespace godwit::jobs
