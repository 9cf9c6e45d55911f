// status, why and logs, over journals that tests tell.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "godwit/base/json.h"
#include "godwit/cli/test_run.h"
#include "godwit/jobs/attempt.h"
#include "godwit/journal/state_dir.h"
#include "godwit/journal/story.h"
#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace fs = std::filesystem;

namespace godwit::cli {
namespace {

using journal::Kind;
using journal::StateDir;
using journal::Story;

// An experiment whose journal tells a story.
class Experiment {
 public:
  explicit Experiment(const Story& story) {
    store::write_file(file(), "name: sweep\n");
    StateDir::beside(file()).create();
    story.write(StateDir::beside(file()).journal());
  }

  std::string file() const { return folder_ / "experiment.yaml"; }
  std::string path(const std::string& name) const { return folder_ / name; }
  Ran ran(std::vector<std::string> arguments) const {
    arguments.push_back(file());
    return run_command(std::move(arguments));
  }
  void log(const std::string& name, const std::string& text) const {
    const std::string where = path("runs/" + Story::uuid_of(0) + "/logs/" + name);
    fs::create_directories(fs::path(where).parent_path());
    store::write_file(where, text);
  }

 private:
  store::TestFolder folder_;
};

const std::string first_job = "run0-train_epoch0";

Story begun() {
  Story story;
  story.dag("sweep").site("delta").site("expanse").run(0, {"delta", "expanse"}).run(1, {"expanse", "expanse"}, 5, true);
  return story.engine();
}

Story failed(const std::string& outcome, const Json& more = Json::object()) {
  Story story = begun();
  story.start(first_job, 1, "delta").end(first_job, 1, outcome, more);
  story.add(Kind::node_failed, first_job, 1, {{"reason", outcome}});
  return story.add(Kind::node_futile, "run0-train_epoch1", 0, {{"because", first_job}});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("status: a table of runs, counts, sites, with units") {
  Story story = begun();
  story.start(first_job, 1, "delta").epoch(first_job, 1, 1, 0.5).epoch(first_job, 1, 2, 0.25);
  const Experiment experiment(story);
  const Ran status = experiment.ran({"status"});
  CHECK(status.code == 0);
  CHECK(status.err.empty());
  for (const char* part :
       {"sweep  ", "10 %", "2 of 20 epochs", "4 jobs: 1 active, 1 ready, 2 waiting", "run1 baseline", "alpha=0.1",
        "2/10", "delta → expanse", "expanse ×2", "val_loss 0.25", "active", "godwit run"}) {
    CAPTURE(part);
    CHECK(contains(status.out, part));
  }
  CHECK_FALSE(contains(status.out, "\x1b"));  // a pipe gets no colours
}

TEST_CASE("why names the key that the person wrote for a checkpoint that is missing") {
  for (const Json& checkpoint : {Json("model.bin"), Json{{"path", "model.bin"}, {"best", "best.bin"}}}) {
    Story story;
    story.add(Kind::source, "", 0, {{"experiment", {{"checkpoint", checkpoint}}}});
    const Story rest = failed("missing_output", {{"detail", "exited with 0, but left no 'model.bin'"}});
    for (const journal::Event& event : rest.events) {
      story.events.push_back(event);
      story.events.back().seq = static_cast<std::int64_t>(story.events.size());
    }
    // The definition's source is told after the Dag itself.
    std::swap(story.events[0], story.events[1]);
    std::swap(story.events[0].seq, story.events[1].seq);
    const Ran why = Experiment(story).ran({"why", first_job});
    CAPTURE(why.out);
    CHECK(contains(why.out, "`checkpoint:`"));
    CHECK_FALSE(contains(why.out, "transfer_output_files"));
  }
}

TEST_CASE("why names the limit that a ready job waits for, and who holds it") {
  struct Case {
    Json max_jobs;
    const char* says;
  };
  const Case cases[] = {
      {"1", "`max_jobs` lets 1 job run at once: run0-train_epoch0"},
      {{{"expanse", "1"}}, "`max_jobs` lets 1 job run at once at expanse: run0-train_epoch0"},
      {{{"total", "1"}, {"expanse", "5"}}, "`max_jobs` lets 1 job run at once: run0-train_epoch0"},
  };
  for (const Case& c : cases) {
    Story story;
    story.dag("sweep").add(Kind::source, "", 0, {{"experiment", {{"max_jobs", c.max_jobs}}}});
    story.site("expanse").run(0, {"expanse", "expanse"}).run(1, {"expanse", "expanse"}).engine();
    story.start(first_job, 1, "expanse");
    const Experiment experiment(story);
    const auto journal = journal::Journal::open(StateDir::beside(experiment.file()).journal());
    const Ran why = experiment.ran({"why", "run1-train_epoch0"});
    CAPTURE(why.out);
    CHECK(contains(why.out, c.says));
  }
}

TEST_CASE("logs of a job that ended and left nothing do not say yet") {
  Story story = begun();
  story.start(first_job, 1, "delta");
  CHECK(contains(Experiment(story).ran({"logs", first_job}).err, "has written nothing yet:"));
  story.end(first_job, 1, "exited", {{"exit_code", 3}});
  CHECK(contains(Experiment(story).ran({"logs", first_job}).err, "has written nothing:"));
}

TEST_CASE("status --json") {
  Story story = failed("signaled", {{"signal", 11}});
  story.add(Kind::warning, "", 0, {{"message", "beware"}});
  story.add(Kind::dag_ended, "", 0, {{"success", false}}).add(Kind::engine_stopped, "", 0, {{"reason", "finished"}});
  const Ran status = Experiment(story).ran({"status", "--json"});
  CHECK(status.code == 0);
  const Json json = Json::parse(status.out);
  CHECK(json["name"] == "sweep");
  CHECK(json["engine"]["state"] == "stopped");
  CHECK(json["ended"]["success"] == false);
  CHECK(json["jobs"]["failed"] == 1);
  CHECK(json["jobs"]["futile"] == 1);
  CHECK(json["progress"]["total"] == 20);
  CHECK(json["runs"].size() == 2);
  CHECK(json["runs"][0]["state"] == "failed");
  CHECK(json["runs"][0]["sites"] == Json({"delta", "expanse"}));
  CHECK(json["runs"][1]["baseline"] == true);
  CHECK(json["not_moving"][1]["subject"] == first_job);
  CHECK(json["warnings"][0] == "beware");
}

TEST_CASE("warnings: status shows one of a kind, why those of its node") {
  Story story = begun();
  const auto warn = [&](const std::string& node, const std::string& text, const char* about) {
    story.add(Kind::warning, node, 1, {{"message", node.empty() ? text : node + ": " + text}, {"about", about}});
  };
  warn(first_job, "it has no metrics: it left no m.csv", "no_metrics");
  warn("run1-train_epoch0", "it has no metrics: it left no m.csv", "no_metrics");
  warn("", "beware", "");
  const Experiment experiment(story);
  const std::string status = experiment.ran({"status"}).out;
  CAPTURE(status);
  CHECK(contains(status, "warning: run1-train_epoch0: it has no metrics: it left no m.csv (and 1 more like it)\n"));
  CHECK(contains(status, "warning: beware\n"));
  CHECK(contains(experiment.ran({"why", first_job}).out, "  warning: it has no metrics: it left no m.csv\n"));
}

TEST_CASE("status says how the engine is") {
  Story story = begun();
  SUBCASE("died") {
    CHECK(contains(Experiment(story).ran({"status"}).out, "its engine died"));
  }
  SUBCASE("stopped") {
    story.add(Kind::engine_stopped, "", 0, {{"reason", "interrupted"}});
    CHECK(contains(Experiment(story).ran({"status"}).out, "interrupted"));
  }
  SUBCASE("one step") {
    story.add(Kind::engine_stopped, "", 0, {{"reason", "once"}});
    CHECK(contains(Experiment(story).ran({"status"}).out, "its engine took one step (run --once) "));
    CHECK(contains(Experiment(story).ran({"why"}).out, "the last one took one step (run --once) "));
  }
  SUBCASE("running, and paused") {
    story.add(Kind::paused, "", 0, {{"reason", "the disk is full"}});
    const Experiment experiment(story);
    const auto journal = journal::Journal::open(StateDir::beside(experiment.file()).journal());
    const std::string out = experiment.ran({"status"}).out;
    CHECK(contains(out, "paused for "));
    CHECK(contains(out, "the disk is full"));
    journal->append({0, story.now, Kind::unpaused, "", 0, ""});
    REQUIRE(journal->commit());
    CHECK(contains(experiment.ran({"status"}).out, "(process " + std::to_string(::getpid()) + ")"));
  }
  SUBCASE("never started") {
    Story only_defined;
    CHECK(contains(Experiment(only_defined.dag("sweep").run(0, {"delta"})).ran({"status"}).out, "not started yet"));
  }
}

TEST_CASE("status of a workflow without runs shows its nodes") {
  Story story;
  story.dag("diamond").site("local").define({{"A", "job", "", "local", 0, 0}, {"B", "job", "", "local", 0, 0}},
                                            {{0, 1}});
  story.engine().start("A", 1, "local");
  const std::string out = Experiment(story).ran({"status"}).out;
  CHECK(contains(out, "0 of 2 jobs"));
  CHECK(contains(out, "A     local"));
}

TEST_CASE("status shows so many runs and says how many more there are") {
  Story story;
  story.dag("sweep").site("delta");
  for (std::uint32_t run = 0; run < 50; ++run) story.run(run, {"delta"});
  const Experiment experiment(story);
  story.start("run49-train_epoch0", 1, "delta");
  const std::string out = experiment.ran({"status"}).out;
  CHECK(contains(out, "… and 10 more runs"));
  CHECK(contains(out, "\nrun0 "));
  CHECK_FALSE(contains(out, "\nrun49"));
  CHECK(contains(Experiment(story).ran({"status"}).out, "\nrun49"));  // what is under way is shown before what waits
  CHECK(contains(experiment.ran({"status", "--rows", "49"}).out, "… and 1 more run "));
  CHECK(contains(experiment.ran({"status", "--all"}).out, "\nrun49"));
}

TEST_CASE("status --watch ends with the workflow") {
  Story story = begun();
  const Experiment experiment(story);
  const std::string journal_path = StateDir::beside(experiment.file()).journal();
  std::thread engine([&] {
    const auto journal = journal::Journal::open(journal_path);
    journal->append({0, story.now, Kind::dag_ended, "", 0, R"({"success":true})"});
    if (!journal->commit()) throw std::runtime_error("no room for a test's journal");
  });
  const Ran watched = experiment.ran({"status", "--watch", "--interval", "0.1"});
  engine.join();
  CHECK(watched.code == 0);
  CHECK(contains(watched.out, "succeeded"));
}

TEST_CASE("why explains every way in which an attempt can end") {
  struct Case {
    jobs::Outcome outcome;
    Json more;
    const char* says;
    const char* advises;
  };
  const Case cases[] = {
      {jobs::Outcome::exited, {{"exit_code", 3}}, "ended with exit code 3", "godwit retry "},
      {jobs::Outcome::exited, {{"exit_code", 127}}, "a shell did not find a command", "`setup:` lines"},
      {jobs::Outcome::exited, {{"exit_code", 137}}, "which tells of signal 9 (SIGKILL)", "request_memory"},
      {jobs::Outcome::signaled, {{"signal", 11}}, "signal 11 (SIGSEGV) killed it", "debugger"},
      {jobs::Outcome::signaled, {{"signal", 4}}, "another kind of processor", "-march=x86-64"},
      {jobs::Outcome::checkpointed,
       {{"exit_code", 85}},
       "to be continued, by exit code 85, and gets no further",
       "$GODWIT_CHECKPOINT"},
      {jobs::Outcome::evicted, {}, "interrupted again and again", "godwit retry "},
      {jobs::Outcome::out_of_memory,
       {{"detail", "used 1.2 GB of memory; it asked for 1 GB"}},
       "(used 1.2 GB of memory; it asked for 1 GB)",
       "retry: {request_memory: x2 up to 128GB}"},
      {jobs::Outcome::time_limit,
       {{"detail", "ran for 61 s"}},
       "longer than its time limit (ran for 61 s)",
       "epochs_per_job"},
      {jobs::Outcome::missing_output, {{"detail", "model.bin"}}, "(model.bin)", "transfer_output_files"},
      {jobs::Outcome::unfinished, {{"detail", "it reported epoch 3 of 5"}}, "epoch 3 of 5", "85"},
      {jobs::Outcome::transfer_failed, {{"detail", "data.tar is missing"}}, "data.tar is missing", "path"},
      {jobs::Outcome::input_changed,
       {{"detail", "input 'runs/1/checkpoints/4/' is not what the job before left"}},
       "is not what the job before left",
       "godwit retry --redo "},
      {jobs::Outcome::not_started,
       {{"detail", "train.sh: Permission denied"}},
       "train.sh: Permission denied",
       "executable"},
      {jobs::Outcome::not_started,
       {{"detail", "the setup of its site failed with exit code 127: module load python"}},
       "module load python",
       "`setup:`"},
      {jobs::Outcome::disk_full, {}, "disk was full", "make room"},
      {jobs::Outcome::lost, {}, "interrupted again and again", "godwit retry "},
      {jobs::Outcome::canceled, {}, "canceled", "godwit run"},
  };
  std::vector<bool> covered(static_cast<std::size_t>(jobs::Outcome::canceled) + 1, false);
  for (const Case& c : cases) {
    const std::string outcome(jobs::to_string(c.outcome));
    CAPTURE(outcome);
    covered[static_cast<std::size_t>(c.outcome)] = true;
    const Experiment experiment(failed(outcome, c.more.is_null() ? Json::object() : c.more));
    const Ran why = experiment.ran({"why", first_job});
    CHECK(why.code == 0);
    CHECK(contains(why.out, first_job + " failed: "));
    CHECK(contains(why.out, c.says));
    CHECK(contains(why.out, c.advises));
    CHECK(contains(why.out, "attempt 1 at delta"));
    CHECK(contains(why.out, "after 12.5 s, peak memory 200 MB of 1 GB asked"));
  }
  CHECK(std::count(covered.begin(), covered.end(), false) == 0);
}

TEST_CASE("why shows the end of what a failed job wrote") {
  const Experiment experiment(failed("exited", {{"exit_code", 1}}));
  SUBCASE("to standard error") {
    experiment.log(first_job + ".1.out", "epoch 1\n");
    experiment.log(first_job + ".1.err", "Traceback\n\nValueError: bad \x1b[31m\n\n");
    const std::string out = experiment.ran({"why", first_job}).out;
    CHECK(contains(out, first_job + ".1.err"));
    CHECK(contains(out, "| Traceback\n    | ValueError: bad"));
    CHECK_FALSE(contains(out, "\x1b"));
    CHECK_FALSE(contains(out, "epoch 1"));
  }
  SUBCASE("to standard output, where there is nothing else") {
    experiment.log(first_job + ".1.err", "\n");
    experiment.log(first_job + ".1.out", "10%\r50%\rno such file: x\n");
    CHECK(contains(experiment.ran({"why", first_job}).out, "| no such file: x"));
  }
}

TEST_CASE("why for every state of a node") {
  struct Case {
    std::string name;
    Story story;
    bool engine_runs;
    std::string node;
    const char* says;
  };
  Story first_active = begun();
  first_active.start(first_job, 1, "delta").epoch(first_job, 1, 2, 0.5);
  Story full = begun();
  full.start("run1-train_epoch0", 1, "delta").define({{"x", "job", "", "delta", 0, 0}}, {}).start("x", 1, "delta");
  Story paused = begun();
  paused.add(Kind::paused, "", 0, {{"reason", "the disk is full"}});
  Story retried = begun();
  retried.start(first_job, 1, "delta").end(first_job, 1, "out_of_memory", {{"retry", "retried"}});
  Story scripted = begun();
  scripted.start(first_job, 1, "delta", "pre")
      .end(first_job, 1, "exited", {{"phase", "pre"}, {"exit_code", 2}})
      .add(Kind::node_failed, first_job, 1);
  Story done = begun();
  done.start(first_job, 1, "delta").succeed(first_job);
  const Case cases[] = {
      {"waiting", first_active, true, "run0-train_epoch1", "it waits for run0-train_epoch0 (active)"},
      {"waiting: first in line", first_active, true, "run0-train_epoch1",
       "first in line is run0-train_epoch0: it has been running"},
      {"active", first_active, true, first_job, "it has told of epoch 2, its last is 5"},
      {"active without an engine", first_active, false, first_job, "no engine is at work"},
      {"ready, all slots taken", full, true, first_job, "no slot is free at delta: it has 2 slots, 2 in use"},
      {"ready, nothing in the way", begun(), true, first_job, "at its next turn"},
      {"ready, no engine", begun(), false, first_job, "ended without saying so"},
      {"ready, paused", paused, true, first_job, "the disk is full"},
      {"ready again", retried, true, first_job,
       "out of memory, after 12.5 s, peak memory 200 MB of 1 GB asked; retried"},
      {"failed script", scripted, true, first_job, "of its pre script: the program ended with exit code 2"},
      {"futile", failed("exited", {{"exit_code", 3}}), true, "run0-train_epoch1", "because run0-train_epoch0 failed"},
      {"done", done, true, first_job, "it has been done for "},
      {"a run by number", failed("exited", {{"exit_code", 3}}), true, "0", "run0-train_epoch0 failed"},
      {"a run by uuid", first_active, true, "a0000000", "run0-train_epoch0 active"},
      {"all: failures and what they hold up", failed("exited", {{"exit_code", 3}}), true, "",
       "1 job cannot run because of it"},
      {"all: ready at a site", full, true, "", "1 job is ready; no slot is free at delta"},
      {"all: nothing", first_active, true, "", "1 job is ready; the engine starts"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Experiment experiment(c.story);
    const std::string path = StateDir::beside(experiment.file()).journal();
    const auto engine = c.engine_runs ? journal::Journal::open(path) : nullptr;
    const Ran why = c.node.empty() ? experiment.ran({"why"}) : experiment.ran({"why", c.node});
    CHECK(why.code == 0);
    CAPTURE(why.out);
    CHECK(contains(why.out, c.says));
    const Ran json = c.node.empty() ? experiment.ran({"why", "--json"}) : experiment.ran({"why", "--json", c.node});
    CHECK(Json::parse(json.out)["explanations"].is_array());
  }
}

TEST_CASE("why tells once of what failed in the same way") {
  Story story;
  story.dag("sweep").site("delta");
  for (std::uint32_t run = 0; run < 30; ++run) story.run(run, {"delta", "delta"});
  story.engine();
  for (int run = 0; run < 30; ++run) {
    const std::string node = fmt::format("run{}-train_epoch0", run);
    const int code = run == 7 ? 4 : 3;
    story.start(node, 1, "delta").end(node, 1, "exited", {{"exit_code", code}}).add(Kind::node_failed, node, 1);
    story.add(Kind::node_futile, fmt::format("run{}-train_epoch1", run), 0, {{"because", node}});
  }
  const Experiment experiment(story);
  const std::string why = experiment.ran({"why"}).out;
  CHECK(contains(why, "28 more jobs failed in the same way: run1-train_epoch0, run2-train_epoch0"));
  CHECK(contains(why, "29 jobs cannot run because of them"));
  CHECK(contains(why, "run7-train_epoch0 failed: the program ended with exit code 4"));
  CHECK(contains(experiment.ran({"status"}).out,
                 "run0-train_epoch0 and 28 others failed: the program ended with exit code 3"));
  const Json json = Json::parse(experiment.ran({"why", "--json"}).out);
  CHECK(json["explanations"][0]["alike"].size() == 28);
}

TEST_CASE("why when nothing is stuck") {
  Story story;
  story.dag("sweep").site("delta").run(0, {"delta"}).engine().start(first_job, 1, "delta");
  {
    const Experiment experiment(story);
    const auto engine = journal::Journal::open(StateDir::beside(experiment.file()).journal());
    CHECK(contains(experiment.ran({"why"}).out, "nothing is stuck: 1 active"));
  }
  story.succeed(first_job);
  CHECK(contains(Experiment(story).ran({"why"}).out, "nothing is stuck: all of 1 job is done"));
}

TEST_CASE("logs prints what a job wrote") {
  Story story = begun();
  story.start(first_job, 1, "delta")
      .end(first_job, 1, "evicted", {{"retry", "continued"}})
      .start(first_job, 2, "delta");
  const Experiment experiment(story);
  experiment.log(first_job + ".1.out", "first out\n");
  experiment.log(first_job + ".2.out", "second out\n");
  experiment.log(first_job + ".2.err", "second err\n");
  struct Case {
    std::vector<std::string> options;
    const char* shows;
    const char* hides;
  };
  const Case cases[] = {
      {{}, "second out\n", "first out"},
      {{}, "second err\n", "first out"},
      {{"--attempt", "1"}, "first out\n", "second"},
      {{"--err"}, "second err\n", "second out"},
      {{"--out"}, "second out\n", "second err"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"logs", first_job};
    arguments.insert(arguments.end(), c.options.begin(), c.options.end());
    const Ran logs = experiment.ran(arguments);
    CAPTURE(logs.out);
    CHECK(logs.code == 0);
    CHECK(contains(logs.out, c.shows));
    CHECK_FALSE(contains(logs.out, c.hides));
  }
  CHECK(experiment.ran({"logs", first_job, "--err"}).out == "second err\n");  // one stream alone is printed as it is
  const Json json = Json::parse(experiment.ran({"logs", first_job, "--json"}).out);
  CHECK(json["attempt"] == 2);
  CHECK(json["stdout"]["path"] == experiment.path("runs/a0000000/logs/" + first_job + ".2.out"));
  CHECK(json["stderr"]["exists"] == true);
}

TEST_CASE("logs knows the files that the journal names") {
  Story story = begun();
  story.add(Kind::submitting, first_job, 1,
            {{"phase", "job"}, {"site", "delta"}, {"stdout", "all.log"}, {"stderr", "all.log"}});
  const Experiment experiment(story);
  store::write_file(experiment.path("all.log"), "both\n");
  CHECK(experiment.ran({"logs", first_job}).out == "both\n");
}

TEST_CASE("logs --follow prints until the attempt ends") {
  Story story = begun();
  story.start(first_job, 1, "delta");
  const Experiment experiment(story);
  experiment.log(first_job + ".1.out", "one\n");
  std::thread job([&] {
    experiment.log(first_job + ".1.out", "one\ntwo\n");
    const auto journal = journal::Journal::open(StateDir::beside(experiment.file()).journal());
    journal->append({0, story.now, Kind::attempt_ended, first_job, 1, R"({"phase":"job","outcome":"exited"})"});
    if (!journal->commit()) throw std::runtime_error("no room for a test's journal");
  });
  const Ran logs = experiment.ran({"logs", first_job, "--follow", "--out"});
  job.join();
  CHECK(logs.out == "one\ntwo\n");
}

TEST_CASE("what has written nothing yet is said") {
  Story story = begun();
  story.start(first_job, 1, "delta");
  const Ran logs = Experiment(story).ran({"logs", first_job});
  CHECK(logs.code == 0);
  CHECK(logs.out.empty());
  CHECK(contains(logs.err, "has written nothing yet"));
}

TEST_CASE("wrong uses end with 2 and say what to do") {
  Story story = begun();
  story.start(first_job, 1, "delta");
  const Experiment experiment(story);
  const store::TestFolder empty;
  store::write_file(empty / "experiment.yaml", "name: x\n");
  store::write_file(experiment.path("other.yaml"), "name: other\n");
  const std::string file = experiment.file();
  struct Case {
    std::vector<std::string> arguments;
    const char* says;
  };
  const Case cases[] = {
      // status
      {{"status", empty / "experiment.yaml"}, "nothing has been run yet"},
      {{"status", empty.path()}, "godwit run"},
      {{"status", empty / "experiment.yml"}, "did you mean 'experiment.yaml'?"},
      {{"status", empty / "no/such/folder/experiment.yaml"}, "there is no file"},
      {{"status", experiment.path("other.yaml")}, "the state beside it is of experiment.yaml"},
      {{"status", "--jsno", file}, "--jsno"},
      {{"status", "--rows", "0", file}, "--rows"},
      {{"status", "--rows", "many", file}, "--rows"},
      {{"status", "--watch", "--interval", "0", file}, "--interval"},
      {{"status", file, "twice"}, "twice"},
      // why
      {{"why", "run0-trian_epoch0", file}, "did you mean 'run0-train_epoch0'?"},
      {{"why", "run7", file}, "did you mean 'run0'?"},
      {{"why", "a000000f", file}, "did you mean 'a000000"},
      {{"why", "nothing-like-it-at-all", file}, "'godwit status' lists the runs"},
      {{"why", "-1", file}, "-1"},
      {{"why", first_job, empty / "experiment.yaml"}, "nothing has been run yet"},
      {{"why", first_job, "/no/such/file.yaml"}, "there is no file"},
      {{"why", first_job, file, "third"}, "third"},
      {{"why", "--jsn", file}, "--jsn"},
      {{"why", "", file}, "this is empty"},
      // logs
      {{"logs"}, "node"},
      {{"logs", "run0-train_epoch", file}, "did you mean 'run0-train_epoch0'?"},
      {{"logs", "run0", file}, "there is no node 'run0'"},
      {{"logs", "run0-train_epoch1", file}, "has not been started"},
      {{"logs", first_job, "--attempt", "2", file}, "it has had 1 attempt"},
      {{"logs", first_job, "--attempt", "0", file}, "--attempt"},
      {{"logs", first_job, "--attempt", "last", file}, "--attempt"},
      {{"logs", first_job, "--attempt", file}, "--attempt"},
      {{"logs", first_job, "--error", file}, "--error"},
      {{"logs", first_job, empty / "experiment.yaml"}, "nothing has been run yet"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.arguments);
    const Ran ran = run_command(c.arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, c.says));
  }
}

}  // namespace
}  // namespace godwit::cli
