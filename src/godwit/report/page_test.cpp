#include "godwit/report/page.h"

#include <doctest/doctest.h>

#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "godwit/report/document.h"
#include "godwit/report/figures.h"
#include "godwit/report/fixture.h"
#include "godwit/report/tables.h"

namespace godwit::report {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// What is wrong with the text as XML: tags that do not match, attributes without quotes, bare < or &. Empty if nothing.
// The contents of <style> are left out, as in HTML.
class XmlCheck {
 public:
  explicit XmlCheck(const std::string& text) : text_(text) {}

  std::string run() {
    if (text_.starts_with("<!DOCTYPE html>")) at_ = 15;
    while (at_ < text_.size() && fault_.empty()) {
      if (text_[at_] == '<')
        tag();
      else
        character();
    }
    if (fault_.empty() && !open_.empty()) fault_ = "never closed: " + open_.back();
    return fault_;
  }

 private:
  void character() {
    if (text_[at_] == '&') {
      const std::size_t end = text_.find(';', at_);
      if (end == std::string::npos || end - at_ > 8) fault_ = "bare & at " + here();
    } else if (text_[at_] == '>') {
      fault_ = "bare > at " + here();
    }
    ++at_;
  }

  void tag() {
    const bool closing = text_[at_ + 1] == '/';
    std::size_t end = at_ + (closing ? 2 : 1);
    const std::size_t name_begin = end;
    while (std::isalnum(static_cast<unsigned char>(text_[end])) != 0) ++end;
    const std::string name = text_.substr(name_begin, end - name_begin);
    if (name.empty()) fault_ = "bare < at " + here();
    if (!attributes(end)) return;
    const bool empty = text_[end - 1] == '/';
    at_ = end + 1;
    if (closing) {
      if (open_.empty() || open_.back() != name)
        fault_ = "</" + name + "> closes " + (open_.empty() ? "nothing" : open_.back());
      else
        open_.pop_back();
    } else if (!empty) {
      open_.push_back(name);
      if (name == "style") at_ = text_.find("</style>", at_);
    }
  }

  // Moves `end` to the tag's >.
  bool attributes(std::size_t& end) {
    while (end < text_.size() && text_[end] != '>') {
      if (text_[end] == '"') {
        const std::size_t close = text_.find('"', end + 1);
        const std::string value = text_.substr(end + 1, close - end - 1);
        if (text_[end - 1] != '=' || close == std::string::npos || value.find('<') != std::string::npos)
          return fault_ = "bad attribute at " + here(), false;
        end = close;
      } else if (text_[end] == '<' || text_[end] == '\'') {
        return fault_ = "bad tag at " + here(), false;
      }
      ++end;
    }
    return end < text_.size();
  }

  std::string here() const { return text_.substr(at_, 60); }

  const std::string& text_;
  std::size_t at_ = 0;
  std::string fault_;
  std::vector<std::string> open_;
};

std::string fault_in(const std::string& xml) {
  return XmlCheck(xml).run();
}

TEST_CASE("the check for well-formed text finds what it should") {
  CHECK(fault_in("<a x=\"1\"><b/>t &amp; u</a>").empty());
  for (const char* bad : {"<a>", "<a></b>", "<a x=1\">", "<a>&</a>", "<a>1 < 2</a>", "<a x='1'></a>"}) {
    CAPTURE(bad);
    CHECK_FALSE(fault_in(bad).empty());
  }
}

TEST_CASE("the page stands alone, is well formed, and shows every picture and table") {
  const std::string page = html_page(compare(fixture::synthetic(6)));
  CHECK(fault_in(page) == "");
  for (const char* part : {"<!DOCTYPE html>", "prefers-color-scheme:dark", "12 of 12", "id=\"curves-title\"",
                           "id=\"difference-title\"", "id=\"paths-title\"", "id=\"pairs-title\"", "id=\"times-title\"",
                           "Migrated and baseline", "Seed-paired differences", "Time per epoch by site",
                           "delta → expanse → anvil → bridges2 → delta → expanse", "all runs: layers=3"})
    CHECK_MESSAGE(contains(page, part), part);
  for (const char* outside : {"<script", "<link", "<img", "src=", "href=", "@import", "url("})
    CHECK_MESSAGE(!contains(page, outside), outside);
}

TEST_CASE("the one picture is well formed and holds its own style") {
  const std::string svg = figures_svg(compare(fixture::synthetic(6)));
  CHECK(fault_in(svg) == "");
  CHECK(contains(svg, "prefers-color-scheme:dark"));
  CHECK(contains(svg, ">a  val_loss by epoch</text>"));
  CHECK(contains(svg, ">d  Paired difference of the last val_loss</text>"));
}

TEST_CASE("what users wrote cannot become markup") {
  Experiment experiment = fixture::synthetic(2);
  const std::string evil = "</title></style><script>alert(1)</script>\"'&\x1b[31m\xff";
  experiment.name = evil;
  experiment.file = evil;
  for (Run& run : experiment.runs) {
    run.values.emplace_back(evil, evil + std::to_string(run.seed));
    run.series.push_back({evil, false, {{1, 2}}});
    run.uuid = evil;
    for (Job& job : run.jobs) job.site = job.node = evil;
    for (EpochTime& time : run.epoch_times) time.site = evil;
  }
  Options options;
  options.metric = evil;
  const Comparison comparison = compare(experiment, options);
  for (const std::string& text : {html_page(comparison), figures_svg(comparison)}) {
    CHECK(fault_in(text) == "");
    CHECK_FALSE(contains(text, "<script"));
    CHECK_FALSE(contains(text, "\x1b"));
    CHECK_FALSE(contains(text, "\xff"));
    CHECK(contains(text, "&lt;script&gt;alert(1)"));
  }
}

TEST_CASE("pages of every state of an experiment are well formed") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Experiment nothing_run = fixture::synthetic(3);
  for (Run& run : nothing_run.runs) {
    run.state = State::waiting;
    run.series.clear();
    run.epoch_times.clear();
    for (Job& job : run.jobs) job.state = State::waiting;
  }
  Experiment running = fixture::synthetic(3);
  for (Run& run : running.runs) run.state = State::running;
  Experiment diverged = fixture::synthetic(3);
  for (Run& run : diverged.runs) run.series[1].points.back().value = run.baseline ? kInfinity : -kInfinity;
  Experiment all_nan = fixture::synthetic(1);
  for (Run& run : all_nan.runs)
    for (Series& series : run.series)
      for (Point& point : series.points) point.value = std::numeric_limits<double>::quiet_NaN();
  Experiment alone = fixture::synthetic(1);
  alone.runs.resize(1);
  Experiment one_epoch = fixture::synthetic(3, 1, 1);
  Experiment no_baseline = fixture::synthetic(40);
  no_baseline.runs.resize(40);
  for (Run& run : no_baseline.runs) run.values[0].second = std::to_string(run.number);
  for (const Experiment& experiment :
       {Experiment{}, nothing_run, running, diverged, all_nan, alone, one_epoch, no_baseline}) {
    const Comparison comparison = compare(experiment);
    const std::string page = html_page(comparison);
    CHECK(fault_in(page) == "");
    CHECK(fault_in(figures_svg(comparison)) == "");
    CHECK_FALSE(contains(page, "nan"));
    CHECK_FALSE(contains(page, "inf\""));
    CHECK_NOTHROW(to_json(comparison).dump());
  }
  CHECK(contains(html_page(compare(nothing_run)), "Nothing is finished: 0 of 6 runs."));
}

TEST_CASE("a thousand runs stay quick and readable") {
  const std::clock_t begin = std::clock();  // of this process: other work on the machine does not count
  const Comparison comparison = compare(fixture::synthetic(500));
  const std::string page = html_page(comparison);
  const Json json = to_json(comparison);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CHECK(seconds < 20);  // about 1 s; sanitizers have room
  CHECK(page.size() < 2'000'000);
  CHECK(fault_in(page) == "");
  CHECK(contains(page, "200 of 1000 runs shown; --json has them all."));
  CHECK(contains(page, "The first 40 of 1000 runs."));
  CHECK(json["runs"].size() == 1000);
  CHECK(json["paired"]["val_loss"]["pairs"].size() == 500);
  CHECK(make_tables(comparison, 30).front().rows.size() == 30);
}

TEST_CASE("the headline says what is known and no more") {
  const std::string whole = headline(compare(fixture::synthetic(6)));
  CHECK(contains(whole,
                 "12 of 12 runs finished. The last val_loss of migrated runs is 0.049 higher than that of their "
                 "seed-paired baselines on average (6 pairs, 95 % interval +0.005 to +0.093)."));
  Options options;
  options.metric = "train_loss";  // the same in both runs of a pair
  CHECK(
      contains(headline(compare(fixture::synthetic(2), options)),
               "The last train_loss of every migrated run equals that of its seed-paired baseline exactly (2 pairs)."));
  Experiment experiment = fixture::synthetic(1);
  CHECK(contains(headline(compare(experiment)), "(1 pair, from which no interval can be had)"));
  experiment.runs[1].state = State::running;
  CHECK(contains(headline(compare(experiment)), "No migrated run and its baseline run are both finished yet."));
  CHECK(headline(compare({})) == "Nothing is finished: 0 of 0 runs.");
}

TEST_CASE("a run's path through the sites") {
  const Experiment experiment = fixture::synthetic(1);
  CHECK(site_path(experiment.runs[0]) == "delta → expanse → anvil → bridges2 → delta → expanse");
  CHECK(site_path(experiment.runs[1]) == "delta×6");
  CHECK(site_path(Run{}) == "");
}

TEST_CASE("the document holds what was computed, and says what is not finite") {
  Experiment experiment = fixture::synthetic(2);
  experiment.runs[0].series[1].points.back().value = std::numeric_limits<double>::quiet_NaN();
  experiment.runs[1].state = State::failed;
  const Json json = to_json(compare(experiment));
  CHECK(json["primary_metric"] == "val_loss");
  CHECK(json["metrics"][2] == Json{{"name", "eval.spearman"}, {"source", "evaluation"}, {"better", "highest"}});
  const Json& last = json["runs"][0]["metrics"]["val_loss"]["last"];
  CHECK(last["value"].is_null());
  CHECK(last["not_finite"] == "nan");
  CHECK(json["groups"][0]["metrics"]["val_loss"]["last"] == Json{{"n", 0}});
  CHECK(json["groups"][1]["metrics"]["val_loss"]["last"]["n"] == 2);
  CHECK(json["groups"][1]["metrics"]["val_loss"]["interval_95"].size() == 2);
  CHECK(json["runs"][1]["state"] == "failed");
  CHECK(json["runs"][1]["epoch_time_s"]["delta"]["n"] == 10);
  CHECK(json["notes"].size() == 3);
}

}  // namespace
}  // namespace godwit::report
