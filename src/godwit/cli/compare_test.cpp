// compare, over journals that tests tell.
#include <doctest/doctest.h>

#include <algorithm>

#include "godwit/base/file.h"
#include "godwit/base/json.h"
#include "godwit/cli/test_run.h"
#include "godwit/journal/state_dir.h"
#include "godwit/journal/story.h"
#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace godwit::cli {
namespace {

using journal::Kind;
using journal::Story;

class Told {
 public:
  explicit Told(const Story& story) {
    const journal::StateDir state = journal::StateDir::beside(file());
    store::write_file(file(), "name: sweep\n");
    state.create();
    story.write(state.journal());
  }
  std::string file() const { return folder_ / "experiment.yaml"; }
  std::string path(const std::string& name) const { return folder_ / name; }
  Ran compare(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"compare", file()});
    return run_command(std::move(options));
  }

 private:
  store::TestFolder folder_;
};

// Two pairs. Last losses: migrated 0.5 and 0.75, baseline 0.25 and 0.25.
Story story_of(bool finished, const std::string& name = "sweep") {
  Story story;
  story.dag(name).site("delta").site("expanse");
  for (std::uint32_t run = 0; run < 4; ++run) {
    const bool baseline = run >= 2;
    story.run(run, {"delta", baseline ? "delta" : "expanse"}, 1, baseline, "pair" + std::to_string(run % 2));
  }
  story.engine();
  if (!finished) return story;
  for (std::uint32_t run = 0; run < 4; ++run)
    for (std::uint32_t job = 0; job < 2; ++job) {
      const std::string node = "run" + std::to_string(run) + "-train_epoch" + std::to_string(job);
      const double loss = run >= 2 ? 0.25 : 0.5 + 0.25 * run;
      story.start(node, 1, job == 1 && run < 2 ? "expanse" : "delta")
          .wait(10)
          .epoch(node, 1, job + 1, job == 0 ? 1.0 : loss)
          .succeed(node);
    }
  return story;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("compare: what came out, the groups, the pairs, the times") {
  const Told told(story_of(true));
  const Ran ran = told.compare();
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  for (const std::string part : {"sweep: 4 of 4 runs finished.", "delta → expanse", "delta×2", "0.62 ± 0.18",
                                 "val_loss", "(2 pairs, 95 % interval", "is 0.38 higher than", "−1.21 to +1.96",
                                 "+0.38", "Time per epoch by site", "12.5 s"}) {
    CAPTURE(part);
    CHECK(contains(ran.out, part));
  }
}

TEST_CASE("compare --json, --html and --svg") {
  const Told told(story_of(true));
  const Ran ran = told.compare({"--json", "--html", told.path("c.html"), "--svg", told.path("c.svg")});
  CHECK(ran.code == 0);
  const Json json = Json::parse(ran.out);
  CHECK(json["paired"]["val_loss"]["difference"]["mean"] == 0.375);
  CHECK(json["runs"].size() == 4);
  CHECK(read_file(told.path("c.html")).starts_with("<!DOCTYPE html>"));
  CHECK(read_file(told.path("c.svg")).starts_with("<svg "));
}

TEST_CASE("compare before anything is finished says so and is no failure") {
  const Ran ran = Told(story_of(false)).compare();
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "Nothing is finished: 0 of 4 runs."));
}

// Beside the journal, what the experiment's file says now.
struct Declared {
  const char* journalled;
  const char* in_file;
  std::vector<std::string> said;
};

TEST_CASE("compare: the verdict on the margin that was declared, whatever the file says now") {
  for (const Declared& c : {
           Declared{
               R"({"metric":"val_loss","margin":3,"alpha":0.05})",
               "compare: {metric: val_loss, margin: 3}\n",
               {"Equivalent: migrated − baseline of the last val_loss is +0.38 (2 pairs, 90 % interval −0.41 to +1.16)",
                "within the margin ±3", "Declared on 20", "before any result."}},
           Declared{R"({"metric":"val_loss","margin":1,"alpha":0.05})",
                    "compare: {metric: val_loss, margin: 3}\n",
                    {"Inconclusive: ", "not within the margin ±1",
                     "Changed after the fact: val_loss with the margin ±3 in the experiment's "
                     "file now (after 8 lines of metrics had been reported). By it the verdict would be equivalent"}},
           Declared{R"({"metric":"val_loss","margin":1,"alpha":0.05})", "", {"nothing any more"}},
           Declared{
               nullptr, "compare: {metric: val_loss, margin: 3}\n", {"not beforehand, so it shows nothing by itself"}},
           Declared{nullptr, "", {"No verdict: the experiment declares no margin"}},
       }) {
    CAPTURE(c.in_file);
    Story story = story_of(true);
    if (c.journalled != nullptr) {
      // With the definition: before the engine's start.
      const auto start = std::find_if(story.events.begin(), story.events.end(),
                                      [](const journal::Event& event) { return event.kind == Kind::engine_started; });
      story.events.insert(start, {0, story.events.front().time, Kind::declared, "", 0, c.journalled});
    }
    const Told told(story);
    store::write_file(told.file(), std::string("name: sweep\n") + c.in_file);
    const Ran ran = told.compare();
    CHECK(ran.code == 0);
    for (const std::string& part : c.said) {
      CAPTURE(part);
      CAPTURE(ran.out);
      CHECK(contains(ran.out, part));
    }
  }
}

TEST_CASE("compare: a wrong declaration in the file is told with its place") {
  const Told told(story_of(true));
  store::write_file(told.file(), "name: sweep\ncompare: {metric: val_loss, margin: 2%}\n");
  const Ran ran = told.compare();
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, ":2:37: error: 'margin' is a number in the metric's own unit, not a percentage: '2%'"));
  CHECK(ran.out.empty());
}

TEST_CASE("compare: wrong uses are told and exit 2") {
  const Told told(story_of(true));
  struct Case {
    std::vector<std::string> options;
    std::string message;
  };
  for (const Case& c : {Case{{"--metric", "val_los"}, "did you mean 'val_loss'?"},
                        Case{{"--better", "up"}, "write low, high, not 'up'"}, Case{{"--rows", "0"}, "--rows"},
                        Case{{"--html", told.path("no/c.html")}, "there is no folder"},
                        Case{{"--svg", told.path("")}, "it is a folder"}, Case{{"--nonsense"}, "--nonsense"}}) {
    CAPTURE(c.message);
    const Ran ran = told.compare(c.options);
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, c.message));
    CHECK(ran.out.empty());
  }
  const store::TestFolder empty;
  store::write_file(empty / "experiment.yaml", "name: x\n");
  const Ran ran = run_command({"compare", empty / "experiment.yaml"});
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "nothing has been run yet"));
}

TEST_CASE("compare: text from the journal cannot steer the terminal") {
  const Ran ran = Told(story_of(true, "evil\x1b]0;title\x07")).compare();
  CHECK(contains(ran.out, "evil"));
  CHECK_FALSE(contains(ran.out, "\x1b"));
  CHECK_FALSE(contains(ran.out, "\x07"));
}

}  // namespace
}  // namespace godwit::cli
