// Trivial jobs through the local executor and its supervisor, without an engine: what it costs beyond spawn_loop.
// executor_bench [jobs] [parallel] [dir]
#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/jobs/local_executor.h"
#include "godwit/jobs/supervisor.h"

namespace {

using namespace godwit::jobs;

struct Sink final : StatusSink {
  void on_status(const StatusEvent& event) override {
    if (!event.ending) return;
    if (!event.ending->success()) throw godwit::Error("a job failed: " + event.ending->detail);
    ended.push_back(event.key);
  }
  void on_metrics(const AttemptKey&, std::string_view, std::uint64_t) override {}
  std::vector<AttemptKey> ended;
};

std::vector<Attempt> make_attempts(int jobs) {
  auto spec = std::make_shared<JobSpec>();
  spec->directory = "/";
  spec->executable = "/bin/true";
  std::vector<Attempt> attempts;
  for (int i = 0; i < jobs; ++i)
    attempts.push_back({{std::string(32, '0'), "node" + std::to_string(i), 1, Phase::job}, "here", spec});
  return attempts;
}

int bench(int jobs, unsigned parallel, const std::string& dir) {
  LocalExecutorOptions options;
  options.state_dir = dir;
  options.sites = {{"here", parallel, 0, 0, 0, {}}};
  const auto executor = make_local_executor(options);
  const std::vector<Attempt> attempts = make_attempts(jobs);
  Sink sink;
  const auto begin = std::chrono::steady_clock::now();
  executor->submit(attempts);
  for (int ended = 0; ended < jobs;) {
    pollfd entry{executor->wake_fd(), POLLIN, 0};
    ::poll(&entry, 1, -1);
    executor->poll(sink);
    executor->release(sink.ended);
    ended += static_cast<int>(sink.ended.size());
    sink.ended.clear();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("executor: {} jobs, {} at once: {:.3f} s, {:.0f} jobs/s\n", jobs, parallel, seconds.count(),
             jobs / seconds.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() > 2 && words[1] == "supervise") return supervise(words[2]);
  const int jobs = words.size() > 1 ? std::atoi(argv[1]) : 2000;
  const int parallel = words.size() > 2 ? std::atoi(argv[2]) : 2;
  const std::string dir = words.size() > 3 ? words[3] : "executor_bench.state";
  std::filesystem::remove_all(dir);
  const int result = bench(jobs, static_cast<unsigned>(parallel), dir);
  std::filesystem::remove_all(dir);
  return result;
}
