#include "godwit/jobs/local_executor.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/jobs/proc_table.h"
#include "godwit/jobs/test_supervisor.h"
#include "godwit/store/lock.h"
#include "godwit/store/test_folder.h"

namespace godwit::jobs {
namespace {

namespace fs = std::filesystem;

constexpr Micros kSecond = 1'000'000;

// One experiment's folder, its executor, and what the executor has told.
class World final : public StatusSink {
 public:
  explicit World(LocalSite site = {"here", 2, 0, 0, 0, {}}) : site_(std::move(site)) { start(); }

  void on_status(const StatusEvent& event) override {
    states[event.key.file_name()].push_back(event.state);
    if (event.state == JobState::active) pids[event.key.file_name()] = std::stoi(event.native_id);
    if (!event.ending) return;
    CHECK_FALSE(endings.contains(event.key.file_name()));
    endings[event.key.file_name()] = *event.ending;
  }
  void on_metrics(const AttemptKey& key, std::string_view line, std::uint64_t offset) override {
    lines[key.file_name()].emplace_back(offset, std::string(line));
  }

  void start() {
    LocalExecutorOptions options;
    options.state_dir = state();
    options.sites = {site_};
    options.kept_sandboxes = 2;
    executor = make_local_executor(options);
  }
  // As a new process would.
  void restart() {
    executor.reset();
    states.clear();
    endings.clear();
    lines.clear();
    start();
  }

  std::string state() const { return folder / ".godwit"; }
  pid_t supervisor() const { return store::probe_lock(state() + "/" + kSupervisorLock).holder->pid; }

  void write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(folder / name).parent_path());
    std::ofstream(folder / name) << content;
  }
  std::string read(const std::string& name) const {
    return fs::exists(folder / name) ? read_file(folder / name) : "(none)";
  }

  static AttemptKey key(const std::string& node, std::uint32_t attempt = 1, Phase phase = Phase::job) {
    return {"0123456789abcdef0123456789abcdef", node, attempt, phase};
  }

  JobSpec shell(const std::string& script) const {
    JobSpec spec;
    spec.directory = folder.path();
    spec.executable = "/bin/bash";
    spec.arguments = {"-c", script};
    spec.grace_s = 1;
    return spec;
  }

  void submit(const AttemptKey& key, const JobSpec& spec) {
    const std::vector<Attempt> attempts{attempt(key, spec)};
    executor->submit(attempts);
  }
  static Attempt attempt(const AttemptKey& key, const JobSpec& spec) {
    return {key, "here", std::make_shared<const JobSpec>(spec)};
  }

  bool until(const std::function<bool()>& done, double seconds = 20) {
    const Micros deadline = system_clock().monotonic() + static_cast<Micros>(seconds * kSecond);
    while (!done()) {
      if (system_clock().monotonic() > deadline) return false;
      pollfd entry{executor->wake_fd(), POLLIN, 0};
      ::poll(&entry, 1, 50);
      executor->poll(*this);
    }
    return true;
  }
  Ending ending(const AttemptKey& key) {
    REQUIRE(until([&] { return endings.contains(key.file_name()); }));
    return endings.at(key.file_name());
  }
  bool active(const AttemptKey& key) {
    return until([&] { return pids.contains(key.file_name()); });
  }
  Ending run(const AttemptKey& key, const JobSpec& spec) {
    submit(key, spec);
    return ending(key);
  }
  void release(const AttemptKey& key) {
    const std::vector<AttemptKey> keys{key};
    executor->release(keys);
  }
  void cancel(const AttemptKey& key, bool now) {
    const std::vector<AttemptKey> keys{key};
    executor->cancel(keys, now);
  }

  store::TestFolder folder;
  std::unique_ptr<JobExecutor> executor;
  std::map<std::string, std::vector<JobState>> states;
  std::map<std::string, Ending> endings;
  std::map<std::string, pid_t> pids;
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> lines;

 private:
  LocalSite site_;
};

TEST_CASE("a job runs in a sandbox, reads its inputs, and its outputs come back") {
  World world;
  world.write("data/in.txt", "hello");
  world.write("train.sh", "#!/bin/sh\ncat in.txt - > out.txt; echo said; echo wrong >&2; pwd > where.txt; echo $0\n");
  world.write("stdin.txt", " world");
  JobSpec spec = world.shell("");
  spec.executable = "train.sh";
  spec.arguments = {};
  spec.inputs = {{"data/in.txt", "", false}};
  spec.outputs = {{"out.txt", "results/1/out.txt", true}, {"where.txt", "where.txt", true}};
  spec.stdin_path = world.folder / "stdin.txt";
  spec.stdout_path = world.folder / "logs/a.out";
  spec.stderr_path = world.folder / "logs/a.err";
  const AttemptKey key = World::key("a");
  const Ending ending = world.run(key, spec);
  CHECK(ending.success());
  CHECK(ending.detail == "");
  CHECK(world.read("results/1/out.txt") == "hello world");
  CHECK(world.read("logs/a.out") == "said\n./train.sh\n");
  CHECK(world.read("logs/a.err") == "wrong\n");
  const std::string sandbox = fs::canonical(world.state()).string() + "/sandboxes/a.1.job";
  CHECK(world.read("where.txt") == sandbox + "\n");
  CHECK(world.states["a.1.job"] == std::vector<JobState>{JobState::queued, JobState::stage_in, JobState::active,
                                                         JobState::stage_out, JobState::completed});
  CHECK(fs::exists(sandbox));
  world.release(key);
  CHECK(world.until([&] { return !fs::exists(sandbox); }));
}

TEST_CASE("each way to end is told apart") {
  World world;
  world.write("not_executable", "x");
  struct Case {
    const char* script;
    Outcome outcome;
    int exit_code, signal;
    const char* detail;
  };
  for (const Case& c : std::vector<Case>{{"exit 0", Outcome::exited, 0, 0, ""},
                                         {"exit 3", Outcome::exited, 3, 0, ""},
                                         {"exit 85", Outcome::checkpointed, 85, 0, ""},
                                         {"kill -SEGV $$", Outcome::signaled, 0, SIGSEGV, "signal 11"},
                                         {"kill -KILL $$", Outcome::signaled, 0, SIGKILL, "signal 9"}}) {
    CAPTURE(c.script);
    const AttemptKey key = World::key(c.script);
    const Ending ending = world.run(key, world.shell(c.script));
    CHECK(to_string(ending.outcome) == to_string(c.outcome));
    CHECK(ending.exit_code == c.exit_code);
    CHECK(ending.signal == c.signal);
    CHECK(ending.detail.find(c.detail) != std::string::npos);
  }
}

}  // namespace
}  // namespace godwit::jobs
