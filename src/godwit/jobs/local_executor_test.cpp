#include "godwit/jobs/local_executor.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "godwit/base/content.h"
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

  bool until(const std::function<bool()>& done, double seconds = 100) {  // on a busy machine too
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

// The thread sanitizer makes a fork of every vfork, so that spawn() cannot see what failed in the child.
#ifdef __SANITIZE_THREAD__
constexpr bool kSpawnReports = false;
#else
constexpr bool kSpawnReports = true;
#endif

TEST_CASE("what cannot be started says why" * doctest::skip(!kSpawnReports)) {
  World world;
  world.write("no_shebang", "echo hi\n");
  world.write("bad_interpreter", "#!/no/such/program\n");
  struct Case {
    const char* name;
    std::function<void(JobSpec&)> change;
    Outcome outcome;
    const char* detail;
  };
  const std::vector<Case> cases{
      {"missing", [](JobSpec& s) { s.executable = "absent"; }, Outcome::transfer_failed, "absent: No such file"},
      {"system", [](JobSpec& s) { s.executable = "/usr/bin/absent"; }, Outcome::not_started,
       "/usr/bin/absent: No such"},
      {"format", [](JobSpec& s) { s.executable = "no_shebang"; }, Outcome::not_started, "#!/bin/sh"},
      {"shebang", [](JobSpec& s) { s.executable = "bad_interpreter"; }, Outcome::not_started, "the interpreter"},
      {"path",
       [](JobSpec& s) {
         s.executable = "no-such-program";
         s.transfer_executable = false;
       },
       Outcome::not_started, "no such program in PATH"},
      {"input", [](JobSpec& s) { s.inputs = {{"gone.csv", "", false}}; }, Outcome::transfer_failed, "gone.csv"},
      {"url", [](JobSpec& s) { s.inputs = {{"osdf:///x", "", false}}; }, Outcome::transfer_failed, "osdf://"},
      {"climbs", [](JobSpec& s) { s.inputs = {{"no_shebang", "../x", false}}; }, Outcome::transfer_failed, "leads out"},
      {"absolute", [](JobSpec& s) { s.inputs = {{"no_shebang", "/x", false}}; }, Outcome::transfer_failed, "leads out"},
      {"big", [](JobSpec& s) { s.resources.gpus = 1; }, Outcome::not_started, "asks 1 GPUs; site 'here' has 0"},
      {"stdout", [](JobSpec& s) { s.stdout_path = "no_shebang/x"; }, Outcome::transfer_failed, "no_shebang"},
      {"directory",
       [&](JobSpec& s) {
         s.sandbox = false;
         s.directory = world.folder / "nowhere";
       },
       Outcome::not_started, "nowhere"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    JobSpec spec = world.shell("exit 0");
    c.change(spec);
    const Ending ending = world.run(World::key(c.name), spec);
    CHECK(to_string(ending.outcome) == to_string(c.outcome));
    CAPTURE(ending.detail);
    CHECK(ending.detail.find(c.detail) != std::string::npos);
  }
  Attempt elsewhere = World::attempt(World::key("elsewhere"), world.shell("exit 0"));
  elsewhere.site = "mars";
  const std::vector<Attempt> attempts{elsewhere};
  world.executor->submit(attempts);
  CHECK(world.ending(elsewhere.key).detail == "there is no local site 'mars'");
}

TEST_CASE("outputs come back whole or not at all") {
  World world;
  world.write("old.txt", "old");
  const std::string secret = world.folder / "secret";
  world.write("secret", "secret");
  struct Case {
    const char* name;
    std::string script;
    std::vector<OutputFile> outputs;
    Outcome outcome;
    const char* detail;
    const char* old;  // what old.txt holds afterwards
  };
  const std::vector<Case> cases{
      {"missing", "echo new > a", {{"a", "old.txt"}, {"b", "b"}}, Outcome::missing_output, "left no 'b'", "old"},
      {"optional", "echo -n new > a", {{"a", "old.txt"}, {"b", "b", false}}, Outcome::exited, "", "new"},
      {"failure", "echo bad > a; exit 1", {{"a", "old.txt"}}, Outcome::exited, "", "new"},
      {"escape", "ln -s " + secret + " a", {{"a", "old.txt"}}, Outcome::transfer_failed, "leads out", "new"},
      {"folder", "ln -s ../../.. a", {{"a/secret", "old.txt"}}, Outcome::transfer_failed, "leads out", "new"},
      {"below", "mkdir d; ln -s " + secret + " d/x", {{"d", "dir"}}, Outcome::transfer_failed, "leads out", "new"},
      {"climb", "exit 0", {{"../../../secret", "old.txt"}}, Outcome::transfer_failed, "leads out", "new"},
      {"inside", "echo -n x > real; ln -s real a", {{"a", "old.txt"}}, Outcome::exited, "", "x"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    JobSpec spec = world.shell(c.script);
    spec.outputs = c.outputs;
    const Ending ending = world.run(World::key(c.name), spec);
    CAPTURE(ending.detail);
    CHECK(to_string(ending.outcome) == to_string(c.outcome));
    CHECK(ending.detail.find(c.detail) != std::string::npos);
    CHECK(world.read("old.txt") == c.old);
    CHECK_FALSE(fs::is_symlink(world.folder / "old.txt"));
  }
  CHECK_FALSE(fs::exists(world.folder / "b"));
  CHECK_FALSE(fs::exists(world.folder / "dir"));
}

TEST_CASE("folders go in and come out, with modes, links that stay inside, and contents only where asked") {
  World world;
  world.write("set/deep/one.txt", "1");
  world.write("set/tool.sh", "#!/bin/sh\necho ran > out/ran.txt\n");
  fs::permissions(world.folder / "set/tool.sh", fs::perms::owner_all);
  fs::create_symlink("deep/one.txt", world.folder / "set/link");
  world.write("elsewhere.txt", "2");
  fs::create_symlink(world.folder / "elsewhere.txt", world.folder / "set/far");
  JobSpec spec = world.shell(
      "set -e; mkdir out; set/tool.sh; cat one.txt set/far set/link > out/all.txt; "
      "test -L set/link; test ! -L set/far; ln -s all.txt out/link");
  spec.inputs = {{"set", "", false}, {"set/deep", "", true}};
  spec.outputs = {{"out", "results", true}};
  const Ending ending = world.run(World::key("a"), spec);
  CAPTURE(ending.detail);
  CHECK(ending.success());
  CHECK(world.read("results/all.txt") == "121");
  CHECK(world.read("results/ran.txt") == "ran\n");
  CHECK(fs::is_symlink(world.folder / "results/link"));
}

TEST_CASE("an input that must be what a job before left stops what would go on from anything else") {
  World world;
  const auto goes = [&](const std::string& node) {
    JobSpec spec = world.shell("cp model ../../../model.seen");
    spec.inputs = {{"checkpoints/1/", "", true, content_of(world.folder / "left")}};
    world.submit(World::key(node), spec);
    return world.ending(World::key(node));
  };
  world.write("left/model", "weights");
  world.write("checkpoints/1/model", "weights");
  CHECK(goes("same").success());
  CHECK(world.read("model.seen") == "weights");

  world.write("checkpoints/1/model", "WEIGHTS");
  const Ending other = goes("other");
  CHECK(other.outcome == Outcome::input_changed);
  CHECK(other.detail == "input 'checkpoints/1/' is not what the job before left: other content of the same size");
  fs::resize_file(world.folder / "checkpoints/1/model", 0);
  CHECK(goes("emptied").detail.ends_with("0 B instead of 7 B"));
  fs::remove_all(world.folder / "checkpoints/1");
  CHECK(goes("gone").detail.ends_with("nothing there that can be read"));
  CHECK(world.read("model.seen") == "weights");
}

TEST_CASE("a job that asks more memory than it said is killed and says so") {
  World world;
  JobSpec spec = world.shell("x=$(head -c 100000000 /dev/zero | tr '\\0' 'a'); sleep 30; echo $x | head -c 1");
  spec.resources.memory_mb = 40;
  const Ending ending = world.run(World::key("a"), spec);
  CHECK(to_string(ending.outcome) == "out_of_memory");
  CAPTURE(ending.detail);
  CHECK(ending.detail.find("it asked for 40 MB") != std::string::npos);
  CHECK(ending.use.peak_memory_kb > 40 * 1024);
  CHECK(ending.use.wall_s < 15);
}

TEST_CASE("a job's use is measured: its children's processor time, too") {
  World world;
  const Ending ending =
      world.run(World::key("a"), world.shell("(for ((i=0; i<150000; ++i)); do :; done) & wait; sleep 0.2"));
  CHECK(ending.success());
  CHECK(ending.use.cpu_s > 0.05);
  CHECK(ending.use.wall_s > ending.use.cpu_s);
  CHECK(ending.use.peak_memory_kb > 1000);
  CHECK(ending.ended - ending.started >= 200'000);
}

TEST_CASE("told to leave: SIGTERM, grace, SIGKILL; a time limit likewise") {
  World world({"here", 8, 0, 0, 0, {}});
  const AttemptKey polite = World::key("polite");
  const AttemptKey deaf = World::key("deaf");
  const AttemptKey saves = World::key("saves");
  const AttemptKey done = World::key("done");
  const AttemptKey at_once = World::key("at_once");
  const AttemptKey grouped = World::key("grouped");
  const std::string ready = "touch " + (world.folder / "ready.") + "$GODWIT_NODE; ";
  const auto with = [&](const std::string& name, const std::string& script) {
    JobSpec spec = world.shell(script);
    spec.environment = {{"GODWIT_NODE", name}};
    return spec;
  };
  world.submit(polite, with("polite", ready + "exec sleep 60"));
  world.submit(deaf, with("deaf", "trap '' TERM; " + ready + "for i in {1..60}; do sleep 1; done"));
  world.submit(saves, with("saves", "trap 'exit 85' TERM; " + ready + "sleep 60 & wait"));
  world.submit(done, with("done", "trap 'exit 0' TERM; " + ready + "sleep 60 & wait"));
  world.submit(grouped, with("grouped", "trap '' TERM; timeout 60 bash -c 'trap \"echo told > told; exit 85\" TERM; " +
                                            ready + "sleep 60 & wait'; exit $?"));
  world.submit(at_once, with("at_once", "trap '' TERM; " + ready + "sleep 60 & wait"));
  for (const char* name : {"polite", "deaf", "saves", "done", "at_once", "grouped"})
    REQUIRE(world.until([&] { return fs::exists(world.folder / ("ready." + std::string(name))); }));
  for (const AttemptKey& key : {polite, deaf, saves, done, grouped}) world.cancel(key, false);
  world.cancel(at_once, true);
  CHECK(world.ending(polite).outcome == Outcome::evicted);
  CHECK(world.ending(polite).signal == SIGTERM);
  CHECK(world.ending(saves).outcome == Outcome::evicted);
  CHECK(world.ending(saves).exit_code == 85);
  CHECK(world.ending(done).success());
  CHECK(world.ending(grouped).exit_code == 85);  // timeout(1) has a process group of its own
  CHECK(world.ending(at_once).outcome == Outcome::evicted);
  CHECK(world.ending(at_once).use.wall_s < 10);
  const Ending ending = world.ending(deaf);
  CHECK(ending.outcome == Outcome::evicted);
  CHECK(ending.signal == SIGKILL);
  CHECK(ending.detail.find("killed after 1 s of grace") != std::string::npos);

  JobSpec limited = world.shell("exec sleep 60");
  limited.time_limit_s = 1;
  CHECK(world.run(World::key("limited"), limited).outcome == Outcome::time_limit);
  JobSpec saving = world.shell("trap 'exit 85' TERM; sleep 60 & wait");
  saving.time_limit_s = 1;
  CHECK(world.run(World::key("saving"), saving).outcome == Outcome::checkpointed);
}

TEST_CASE("what has not started can be called back, wherever it waits") {
  World world({"here", 1, 0, 0, 0, {}});
  world.submit(World::key("runs"), world.shell("exec sleep 60"));
  REQUIRE(world.active(World::key("runs")));
  for (int i = 0; i < 400; ++i) world.submit(World::key("w" + std::to_string(i)), world.shell("exit 0"));
  world.cancel(World::key("w0"), false);    // waits at the supervisor
  world.cancel(World::key("w399"), false);  // waits here
  for (const char* name : {"w0", "w399"}) {
    CHECK(world.ending(World::key(name)).outcome == Outcome::evicted);
    CHECK(world.ending(World::key(name)).detail == "told to leave before it started");
  }
  world.cancel(World::key("runs"), true);
  REQUIRE(world.until([&] { return world.endings.size() == 401; }));
  CHECK(world.ending(World::key("w200")).success());
}

TEST_CASE("slots are kept: never more at once than the site has, and as many as it has") {
  World world({"here", 0, 4, 1000, 0, {}});
  for (int i = 0; i < 12; ++i) {
    JobSpec spec = world.shell("exec 9>>log; echo + >&9; sleep 0.1; echo - >&9");
    spec.sandbox = false;
    spec.resources.cpus = 2;
    spec.resources.memory_mb = i % 3 == 0 ? 600 : 100;
    world.submit(World::key("n" + std::to_string(i)), spec);
  }
  REQUIRE(world.until([&] { return world.endings.size() == 12; }));
  int running = 0;
  int most = 0;
  for (const char c : world.read("log")) {
    running += c == '+' ? 1 : c == '-' ? -1 : 0;
    most = std::max(most, running);
  }
  CHECK(most == 2);
}

TEST_CASE("environment: what jobs are told, setup lines before them, GPUs of their own") {
  World world({"here", 4, 0, 0, 2, {"export FROM_SITE=yes", "cd .."}});
  JobSpec spec = world.shell("echo $GODWIT_ATTEMPT $GODWIT_SITE $CUDA_VISIBLE_DEVICES $FROM_SITE \"$1\" $MINE");
  spec.arguments.insert(spec.arguments.end(), {"zero", "it's $HOME \"quoted\""});
  spec.environment = {{"MINE", "a b"}};
  spec.resources.gpus = 1;
  spec.stdout_path = "out";
  CHECK(world.run(World::key("a"), spec).success());
  CHECK(world.read("out") == "0123456789abcdef0123456789abcdef/a.1.job here 0 yes it's $HOME \"quoted\" a b\n");
  spec.inherit_environment = false;
  spec.arguments = {"-c", "env | cut -d= -f1 | sort | tr '\\n' ' '"};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  CHECK(world.run(World::key("b"), spec).success());
  CHECK(
      world.read("out") ==
      "CUDA_VISIBLE_DEVICES FROM_SITE GODWIT_ATTEMPT GODWIT_SANDBOX GODWIT_SITE GODWIT_STATE OLDPWD PATH PWD SHLVL _ ");
}

TEST_CASE("a job does not begin where its site's setup fails") {
  struct Case {
    const char* lines;
    const char* says;  // nullptr: it begins
  };
  const Case cases[] = {
      {"true\nmodule-that-is-missing load python\necho never", "exit code 127: module-that-is-missing load python"},
      {"grep -q x /dev/null || exit 9", "exit code 9: exit 9"},
      {"exit 0", "exit code 0: exit 0"},
      {"source ./nowhere", "exit code 1: source ./nowhere"},
      {"cd nowhere\ncd ..", "exit code 1: cd nowhere"},
      {"x=(", "exit code 1: bash does not understand its lines"},
      {"if true; then\n  false\nfi", "exit code 1: false"},
      {"false || true\nif false; then exit 1; fi\n! true", nullptr},
      {"load() { false; true; }\nload", nullptr},
      {"printf 'false\\ntrue\\n' >act\nsource ./act", nullptr},
  };
  World world;
  int number = 0;
  for (const Case& c : cases) {
    CAPTURE(c.lines);
    JobSpec spec = world.shell("echo begun >>../../../begun; [ ! -v GODWIT_SETUP_NOTE ]");
    spec.setup = {c.lines};
    const Ending ending = world.run(World::key("n" + std::to_string(number++)), spec);
    CHECK(fs::exists(world.folder / "begun") == (c.says == nullptr));
    fs::remove(world.folder / "begun");
    if (c.says == nullptr) {
      CHECK(ending.success());
      continue;
    }
    CHECK(ending.outcome == Outcome::not_started);
    CHECK(ending.detail == std::string("the setup of its site failed with ") + c.says);
  }
}

TEST_CASE("scripts take no slot, run in their directory, and services live until they are told") {
  World world({"here", 1, 0, 0, 0, {"exit 9"}});
  JobSpec busy = world.shell("exec sleep 60");
  busy.setup = {"true"};
  world.submit(World::key("busy"), busy);
  REQUIRE(world.active(World::key("busy")));
  world.write("pre.sh", "#!/bin/sh\npwd > here.txt\n");
  fs::permissions(world.folder / "pre.sh", fs::perms::owner_all);
  JobSpec script = world.shell("");
  script.sandbox = false;
  script.executable = "pre.sh";
  script.arguments = {};
  CHECK(world.run(World::key("busy", 1, Phase::pre), script).success());
  CHECK(world.read("here.txt") == fs::canonical(world.folder.path()).string() + "\n");
  const AttemptKey service = World::key("s", 1, Phase::service);
  world.submit(service, world.shell("exec sleep 60"));
  REQUIRE(world.active(service));
  world.cancel(service, false);
  CHECK(world.ending(service).outcome == Outcome::evicted);
  world.cancel(World::key("busy"), true);
}

TEST_CASE("a later attempt appends to the log that an earlier one wrote") {
  World world;
  JobSpec spec = world.shell("echo $GODWIT_ATTEMPT | cut -d. -f2");
  spec.stdout_path = spec.stderr_path = "log";
  for (const std::uint32_t attempt : {1u, 2u}) world.run(World::key("a", attempt), spec);
  CHECK(world.read("log") == "1\n2\n");
  world.run(World::key("b"), spec);
  CHECK(world.read("log") == "1\n");
}

TEST_CASE("metrics arrive while the job runs, whole lines only, and the rest at its end") {
  World world;
  JobSpec spec = world.shell(
      "echo '{\"epoch\":0}' > m.jsonl; echo -n '{\"epoch\"' >> m.jsonl; "
      "while [ ! -e go ]; do sleep 0.05; done; echo ':1}' >> m.jsonl; echo -n '{\"epoch\":2}' >> m.jsonl; "
      "echo -n '{\"epo' > /dev/null");
  spec.metrics_file = "m.jsonl";
  const AttemptKey key = World::key("a");
  world.submit(key, spec);
  const std::string name = key.file_name();
  REQUIRE(world.until([&] { return !world.lines[name].empty(); }));
  CHECK(world.lines[name].size() == 1);
  CHECK_FALSE(world.endings.contains(name));
  world.write(".godwit/sandboxes/" + name + "/go", "");
  CHECK(world.ending(key).success());
  CHECK(world.lines[name] == std::vector<std::pair<std::uint64_t, std::string>>{
                                 {0, "{\"epoch\":0}"}, {12, "{\"epoch\":1}"}, {24, "{\"epoch\":2}"}});
}

TEST_CASE("a checkpoint waits in the spool for the next attempt, and goes when the node succeeds") {
  World world;
  world.write("parent/ck", "parent");
  const auto spec_of = [&](const std::string& script) {
    JobSpec spec = world.shell(script);
    spec.inputs = {{"parent", "", true}};
    spec.outputs = {{"ck", "final", true}};
    spec.checkpoint_files = {"ck", "best"};
    spec.metrics_file = "m";
    spec.stdout_path = "log";
    return spec;
  };
  const std::string spool = world.state() + "/spool/a";
  const auto attempt = [&](std::uint32_t number, const std::string& script) {
    const AttemptKey key = World::key("a", number);
    const Ending ending = world.run(key, spec_of(script));
    world.release(key);
    return ending;
  };
  CHECK(attempt(1, "cat ck; echo -n one > ck; echo '{}' > m; exit 85").outcome == Outcome::checkpointed);
  CHECK(world.read("log") == "parent");
  CHECK(world.read(".godwit/spool/a/ck") == "one");
  SUBCASE("success") {
    CHECK(attempt(2, "cat ck; echo -n two > ck").success());
    CHECK(world.read("log") == "parentone");
    CHECK(world.read("final") == "two");
    CHECK_FALSE(fs::exists(spool));
  }
  SUBCASE("failing after an epoch keeps what was reached") {
    CHECK(attempt(2, "echo -n two > ck; echo -n b > best; echo '{}' > m; exit 1").exit_code == 1);
    CHECK(world.read(".godwit/spool/a/ck") == "two");
    CHECK(world.read(".godwit/spool/a/best") == "b");
  }
  SUBCASE("failing without an epoch discards it: it may be what the job fails of") {
    CHECK(attempt(2, "echo -n broken > ck; exit 1").exit_code == 1);
    CHECK_FALSE(fs::exists(spool));
    CHECK(attempt(3, "cat ck").success());
    CHECK(world.read("log") == "parentparent");
  }
  SUBCASE("leaving without an epoch keeps it") {
    const AttemptKey key = World::key("a", 2);
    world.submit(key, spec_of("exec sleep 60"));
    REQUIRE(world.active(key));
    world.cancel(key, false);
    CHECK(world.ending(key).outcome == Outcome::evicted);
    CHECK(world.read(".godwit/spool/a/ck") == "one");
  }
  SUBCASE("another node has its own") {
    CHECK(world.run(World::key("b"), spec_of("cat ck")).success());
  }
}

TEST_CASE("nothing of a job stays when it ends: not its background processes, not those that left its group") {
  World world;
  const std::string script =
      "sleep 300 & echo $! >> pids; setsid sleep 300 & echo $! >> pids; (setsid env -u GODWIT_ATTEMPT sleep 300 & ); "
      "sleep 0.2; exit 0";
  JobSpec spec = world.shell(script);
  spec.sandbox = false;
  CHECK(world.run(World::key("a"), spec).success());
  std::ifstream pids(world.folder / "pids");
  for (pid_t pid = 0; pids >> pid;) {
    CAPTURE(pid);
    CHECK(world.until(
        [&] {
          const auto found = process(pid);
          return !found || found->dead();
        },
        5));
  }
}

bool none_of_state_lives(const std::string& state) {
  for (const Process& process : all_processes())
    if (!process.dead() && environment_value(process.pid, "GODWIT_STATE") == state) return false;
  return true;
}

TEST_CASE("the supervisor dies by SIGKILL: its jobs and their children die with it and count as lost") {
  World world({"here", 2, 0, 0, 0, {}});
  JobSpec spec = world.shell(
      "echo $GODWIT_STATE > state; echo one > ck; "
      "(sleep 300 & setsid sleep 300 & env -i sleep 300 & echo $! > bare; setsid -f sleep 300); touch ready; sleep "
      "300");
  spec.sandbox = false;
  world.submit(World::key("a"), spec);
  world.submit(World::key("b"), world.shell("exec sleep 300"));
  world.submit(World::key("waits"), world.shell("exit 7"));
  REQUIRE(world.until([&] { return fs::exists(world.folder / "ready"); }));
  const pid_t first = world.supervisor();
  ::kill(first, SIGKILL);
  CHECK(world.ending(World::key("a")).outcome == Outcome::lost);
  CHECK(world.ending(World::key("b")).outcome == Outcome::lost);
  // What it had not started is started by its successor.
  CHECK(world.ending(World::key("waits")).exit_code == 7);
  CHECK(world.supervisor() != first);
  std::string state = world.read("state");
  state.pop_back();
  CHECK(none_of_state_lives(state));
  const auto bare = process(std::stoi(world.read("bare")));
  CHECK((!bare || bare->dead()));
  // A known key is not run again.
  world.endings.clear();
  world.release(World::key("b"));
  CHECK(world.run(World::key("b"), world.shell("exit 0")).outcome == Outcome::lost);
}

TEST_CASE("the engine dies: its jobs go on, and the next engine hears of them as if it had been there") {
  World world;
  const std::string go = world.folder / "go";
  JobSpec spec =
      world.shell("echo '{\"epoch\":0}' > m; while [ ! -e " + go + " ]; do sleep 0.02; done; echo done > out");
  spec.outputs = {{"out", "out", true}};
  spec.metrics_file = "m";
  const AttemptKey runs = World::key("runs");
  const AttemptKey ended = World::key("ended");
  const AttemptKey never = World::key("never");
  world.submit(runs, spec);
  JobSpec quick = world.shell("echo quick > out");
  quick.outputs = {{"out", "quick", true}};
  REQUIRE(world.active(runs));
  world.submit(ended, quick);
  REQUIRE(world.until([&] { return world.states["ended.1.job"].size() >= 3; }));
  world.executor.reset();
  world.pids.clear();
  ::usleep(300'000);  // it ends while nobody listens
  world.restart();
  const std::vector<AttemptKey> keys{runs, never, ended};
  CHECK(world.executor->find(keys) == std::vector<Found>{Found::known, Found::unknown, Found::known});
  const std::vector<Attempt> attempts{World::attempt(runs, spec), World::attempt(ended, quick),
                                      World::attempt(never, quick)};
  world.executor->attach(attempts);
  CHECK(world.ending(ended).success());
  CHECK(world.read("quick") == "quick\n");
  CHECK(world.ending(never).outcome == Outcome::lost);
  REQUIRE(world.active(runs));
  // Submitting again is attaching.
  world.submit(runs, spec);
  world.write("go", "");
  CHECK(world.ending(runs).success());
  CHECK(world.read("out") == "done\n");
  CHECK(world.lines["runs.1.job"].size() == 1);
}

TEST_CASE("submitting what another engine submitted runs it once") {
  World world;
  JobSpec spec = world.shell("echo ran >> log; sleep 0.3");
  spec.sandbox = false;
  const AttemptKey key = World::key("a");
  world.submit(key, spec);
  world.submit(key, spec);
  world.restart();
  world.submit(key, spec);
  CHECK(world.ending(key).success());
  CHECK(world.read("log") == "ran\n");
  CHECK(world.endings.size() == 1);
}

TEST_CASE("one that is told to leave and ends orderly before its last epoch goes on later") {
  struct Case {
    const char* reports;
    Outcome outcome;
  };
  for (const Case& c : {Case{"{\\\"epoch\\\":3}", Outcome::evicted}, Case{"{\\\"epoch\\\":4}", Outcome::exited},
                        Case{"", Outcome::evicted}}) {
    CAPTURE(c.reports);
    World world;
    JobSpec spec = world.shell("trap 'exit 0' TERM; echo \"" + std::string(c.reports) +
                               "\" > m; echo half > ck; while :; do sleep 0.05; done");
    spec.environment = {{"GODWIT_LAST_EPOCH", "4"}};
    spec.metrics_file = "m";
    spec.checkpoint_files = {"ck"};
    spec.outputs = {{"m", "m", false}, {"ck", "final", true}};
    const AttemptKey key = World::key("leaves");
    world.submit(key, spec);
    REQUIRE(world.active(key));
    REQUIRE(world.until([&] { return fs::exists(world.state() + "/sandboxes/leaves.1.job/ck"); }));
    const std::vector<AttemptKey> keys{key};
    world.executor->cancel(keys, false);
    CHECK(world.ending(key).outcome == c.outcome);
    CHECK(fs::exists(world.folder / "final") == (c.outcome == Outcome::exited));
    CHECK(fs::exists(world.state() + "/spool/leaves/ck") == (c.outcome == Outcome::evicted));
  }
}

TEST_CASE("what is to come back in any case does so after a failure too") {
  World world;
  for (const char* end : {"exit 0", "exit 1"}) {
    CAPTURE(end);
    JobSpec spec = world.shell(std::string("mkdir -p w/offline-run-1 w/run-2; echo x > w/offline-run-1/data; "
                                           "ln -s offline-run-1 w/latest; echo y > other; ") +
                               end);
    spec.outputs = {{"w/offline-run-*", "kept/", false, true},
                    {"w/none-*", "kept/", false, true},
                    {"absent", "kept/", false, true},
                    {"other", "other", false}};
    const AttemptKey key = World::key(std::string("n") + end[5]);
    CHECK(world.run(key, spec).success() == (std::string(end) == "exit 0"));
    CHECK(world.read("kept/offline-run-1/data") == "x\n");
    CHECK_FALSE(fs::exists(world.folder / "kept/run-2"));
    CHECK_FALSE(fs::exists(world.folder / "kept/latest"));
    fs::remove_all(world.folder / "kept");
  }
}

TEST_CASE("few sandboxes of failures are kept to look at, the newest") {
  World world;
  for (int i = 0; i < 4; ++i) {
    JobSpec spec = world.shell("mkdir d; touch d/x; chmod 0 d; exit 1");
    spec.outputs = {{"o", "o", false}};
    const AttemptKey key = World::key("f" + std::to_string(i));
    world.run(key, spec);
    ::usleep(20'000);
    world.release(key);
  }
  CHECK(world.until([&] { return !fs::exists(world.state() + "/sandboxes/f1.1.job"); }));
  CHECK(fs::exists(world.state() + "/sandboxes/f2.1.job/d"));
  CHECK(fs::exists(world.state() + "/sandboxes/f3.1.job/d"));
  CHECK(world.until([&] { return fs::is_empty(world.state() + "/sandboxes/.trash"); }));
}

TEST_CASE("a state directory may have a path too long for a socket") {
  store::TestFolder folder;
  LocalExecutorOptions options;
  options.state_dir = folder / (std::string(90, 'a') + "/" + std::string(90, 'b'));
  options.sites = {{"here", 1, 0, 0, 0, {}}};
  const auto executor = make_local_executor(options);
  struct stat info{};
  REQUIRE(::stat((options.state_dir + "/supervisor.sock").c_str(), &info) == 0);
  CHECK(S_ISSOCK(info.st_mode));
  CHECK((info.st_mode & 0777) == 0600);
}

// A file system of its own, of one MiB or so.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    fs::create_directories(path);
    mounted_ = ::mount("godwit-test", path.c_str(), "tmpfs", 0, "size=4m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST_CASE("a full disk: failures are told from others, ends are recorded, and it goes on when there is room") {
  World world;
  const SmallDisk disk(world.folder / "disk");
  if (!disk.mounted()) {
    MESSAGE("skipped: no permission to mount a small tmpfs here");
    return;
  }
  LocalExecutorOptions options;
  options.state_dir = world.folder / "disk/state";
  options.sites = {{"here", 2, 0, 0, 0, {}}};
  world.executor = make_local_executor(options);
  CHECK(world.run(World::key("before"), world.shell("exit 0")).success());
  JobSpec fills = world.shell("head -c 100000000 /dev/zero > fill || exit 3");
  Ending ending = world.run(World::key("fills"), fills);
  CHECK(to_string(ending.outcome) == "disk_full");
  CAPTURE(ending.detail);
  CHECK(ending.detail.find("is full") != std::string::npos);
  // Success needs no room, and even now each end is written down.
  for (int i = 0; i < 200; ++i) world.submit(World::key("more" + std::to_string(i)), world.shell("exit 0"));
  REQUIRE(world.until([&] { return world.endings.size() == 202; }));
  for (int i = 0; i < 200; ++i) CHECK(world.endings.at("more" + std::to_string(i) + ".1.job").success());
  // Its output finds no room.
  world.write("big", std::string(1000, 'x'));
  JobSpec brings = world.shell("exit 0");
  brings.inputs = {{"big", "", false}};
  ending = world.run(World::key("brings"), brings);
  CHECK(to_string(ending.outcome) == "disk_full");
  const std::vector<AttemptKey> keys{World::key("fills")};
  world.executor->release(keys);
  fs::remove_all(options.state_dir + "/sandboxes/fills.1.job");
  // The kernel gives the room back when it is done with the file, which may take it a moment.
  bool goes_on = false;
  for (int i = 0; i < 50 && !goes_on; ++i) {
    goes_on = world.run(World::key("after" + std::to_string(i)), brings).success();
    if (!goes_on) ::usleep(100'000);
  }
  CHECK(goes_on);

  world.executor = make_local_executor(options);
  const std::vector<Attempt> attempts{World::attempt(World::key("more199"), world.shell("exit 0"))};
  world.endings.clear();
  world.executor->attach(attempts);
  CHECK(world.ending(World::key("more199")).success());
  ::kill(store::probe_lock(options.state_dir + "/" + kSupervisorLock).holder->pid, SIGTERM);
}

}  // namespace
}  // namespace godwit::jobs
