// The bare loop that a local executor is measured against: posix_spawn a command COUNT times, at most PARALLEL at once.
//
//   spawn_loop COUNT PARALLEL COMMAND [ARGUMENT…]
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

extern char** environ;

namespace {

bool start(char** argv) {
  pid_t pid = 0;
  return posix_spawnp(&pid, argv[0], nullptr, nullptr, argv, environ) == 0;
}

bool reap() {
  int status = 0;
  return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: spawn_loop COUNT PARALLEL COMMAND [ARGUMENT…]\n");
    return 2;
  }
  const long count = std::strtol(argv[1], nullptr, 10);
  const long parallel = std::strtol(argv[2], nullptr, 10);
  long started = 0;
  for (long ended = 0; ended < count; ++ended) {
    for (; started < count && started - ended < parallel; ++started) {
      if (!start(argv + 3)) return 1;
    }
    if (!reap()) return 1;
  }
  return 0;
}
