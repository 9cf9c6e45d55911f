#include "godwit/report/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "godwit/base/bookkeeping.h"
#include "godwit/base/clock.h"
#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/base/units.h"
#include "godwit/journal/metrics.h"
#include "godwit/ml/weights.h"
#include "godwit/report/read.h"

namespace godwit::report {
namespace {

namespace fs = std::filesystem;

using journal::NodeIndex;
using journal::NodeState;
using Result = RehearsalStep::Result;

// Memory above this share of what was asked is a note: real data are larger.
constexpr double kNearlyAllMemory = 0.9;

class Reader {
 public:
  Reader(const journal::View& view, const RehearsalLayout& layout) : view_(view), layout_(layout) {}

  Rehearsal read() {
    out_.epochs = layout_.epochs;
    out_.time = view_.engine().last_event;
    for (std::size_t site = 0; site < layout_.sites.size(); ++site) out_.sites.push_back(read_site(site));
    for (std::size_t site = 1; site < layout_.sites.size(); ++site) compare(site);
    for (std::size_t site = 0; site < layout_.sites.size(); ++site) judge(site);
    return std::move(out_);
  }

 private:
  // --- one site -------------------------------------------------------------------------------------------------

  std::size_t run_resumed_at(std::size_t site) const {
    return (site + layout_.sites.size() - 1) % layout_.sites.size();
  }
  static std::string begin_node(std::size_t run) { return fmt::format("run{}-train_epoch0", run); }
  static std::string resume_node(std::size_t run) { return fmt::format("run{}-train_epoch1", run); }
  std::string golden_node(std::size_t site) const {
    return site == 0 ? "run0-eval_epoch1" : "golden-" + layout_.sites[site];
  }

  RehearsedSite read_site(std::size_t site) const {
    RehearsedSite out;
    out.name = layout_.sites[site];
    out.begins = read_step(begin_node(site));
    out.resumes = read_step(resume_node(run_resumed_at(site)));
    if (layout_.evaluates) {
      const RehearsalStep steps[] = {read_step(fmt::format("run{}-eval_epoch1", site)),
                                     read_step(fmt::format("run{}-eval_epoch2", run_resumed_at(site))),
                                     read_step(golden_node(site))};
      // The one that tells most: a failure, else one that ran.
      const auto worst = std::find_if(std::begin(steps), std::end(steps),
                                      [](const RehearsalStep& step) { return step.result == Result::failed; });
      const auto best = std::find_if(std::begin(steps), std::end(steps),
                                     [](const RehearsalStep& step) { return step.result == Result::passed; });
      out.evaluates = worst != std::end(steps) ? *worst : best != std::end(steps) ? *best : steps[0];
    }
    if (out.begins.result == Result::passed) {
      out.epoch_s = out.begins.wall_s / layout_.epochs;
      std::error_code error;
      const std::string checkpoint = checkpoint_of(site);
      if (!checkpoint.empty()) out.checkpoint_bytes = size_of(checkpoint);
    }
    return out;
  }

  RehearsalStep read_step(const std::string& name) const {
    RehearsalStep step;
    step.node = name;
    const auto index = view_.find_node(name);
    if (!index) return step;
    const journal::Node& node = view_.nodes()[*index];
    if (node.state == NodeState::done) step.result = Result::passed;
    if (node.state == NodeState::failed) {
      step.result = Result::failed;
      step.why = view_.text(node.reason);
    }
    for (const journal::AttemptIndex place : view_.attempts_of(*index)) {
      const journal::Attempt& attempt = view_.attempts()[place];
      if (view_.text(attempt.phase) != "job") continue;
      step.wall_s += attempt.wall_s;
      step.peak_memory_kb = std::max(step.peak_memory_kb, attempt.peak_memory_kb);
      step.asked_memory_mb = attempt.asked_memory_mb;
    }
    return step;
  }

  // The checkpoint of the job that began at the site; empty: there is none.
  std::string checkpoint_of(std::size_t site) const {
    const auto node = view_.find_node(begin_node(site));
    if (layout_.checkpoint.empty() || !node || view_.nodes()[*node].run == journal::kNone) return {};
    const std::string& uuid = view_.runs()[view_.nodes()[*node].run].uuid;
    const fs::path path =
        fs::path(layout_.results) / uuid / "checkpoints" / std::to_string(layout_.epochs) / layout_.checkpoint;
    return fs::exists(path) ? path.string() : std::string();
  }

  static std::uint64_t size_of(const fs::path& path) {
    if (!fs::is_directory(path)) return fs::file_size(path);
    std::uint64_t bytes = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes;
  }

  // --- beside the first site ------------------------------------------------------------------------------------

  void compare(std::size_t site) {
    RehearsedSite& here = out_.sites[site];
    here.training = divergence(begin_node(0), begin_node(site));
    if (layout_.evaluates) here.golden = divergence(golden_node(0), golden_node(site));
    const std::string a = checkpoint_of(0), b = checkpoint_of(site);
    if (a.empty() || b.empty() || !fs::is_regular_file(a) || !fs::is_regular_file(b)) return;
    const std::string bytes_a = read_file(a), bytes_b = read_file(b);
    here.same_bytes = bytes_a == bytes_b;
    if (layout_.checkpoint.ends_with(".safetensors"))
      here.weights =
          ml::weight_distance(ml::Safetensors::parse(bytes_a, a), a, ml::Safetensors::parse(bytes_b, b), b).relative();
  }

  // By epoch and name, the last that a node said.
  std::map<std::string, double> numbers_of(const std::string& name) const {
    std::map<std::string, double> out;
    const auto node = view_.find_node(name);
    if (!node || view_.nodes()[*node].state != NodeState::done) return out;
    for (const journal::MetricsLine& line : view_.metrics()) {
      if (line.node != *node) continue;
      const Json json = Json::parse(line.json, nullptr, false);
      if (!json.is_object()) continue;
      for (const auto& [key, value] : json.items())
        if (const auto number = is_bookkeeping(key) ? std::nullopt : journal::metric_value(value))
          out[line.epoch == 0 ? key : fmt::format("{} of epoch {}", key, line.epoch)] = *number;
    }
    return out;
  }

  std::optional<Divergence> divergence(const std::string& reference, const std::string& node) const {
    const std::map<std::string, double> there = numbers_of(reference), here = numbers_of(node);
    std::optional<Divergence> worst;
    std::size_t compared = 0;
    for (const auto& [name, value] : here) {
      const auto other = there.find(name);
      if (other == there.end()) continue;
      ++compared;
      const double larger = std::max(std::abs(value), std::abs(other->second));
      double relative = value == other->second || larger == 0 ? 0 : std::abs(value - other->second) / larger;
      if (std::isnan(value) != std::isnan(other->second) || std::isinf(larger))
        relative = value == other->second ? 0 : 1;
      if (std::isnan(value) && std::isnan(other->second)) relative = 0;
      if (!worst || relative > worst->relative) worst = Divergence{name, value, other->second, relative, 0};
    }
    if (worst) worst->metrics = compared;
    return worst;
  }

  // --- what that means ------------------------------------------------------------------------------------------

  void judge(std::size_t site) {
    const RehearsedSite& here = out_.sites[site];
    const auto fault = [&](std::string text) { out_.faults.push_back(std::move(text)); };
    const auto note = [&](std::string text) { out_.notes.push_back(std::move(text)); };
    const auto failed = [&](const RehearsalStep& step, const char* what) {
      if (step.result == Result::failed)
        fault(fmt::format("{} does not {} a run: {} ({})", here.name, what, step.why, step.node));
    };
    failed(here.begins, "begin");
    failed(here.resumes, "resume");
    if (here.evaluates) failed(*here.evaluates, "evaluate");
    judge_resumption(site);
    for (const RehearsalStep* step : {&here.begins, &here.resumes}) {
      const double asked = static_cast<double>(step->asked_memory_mb) * 1024;
      if (step->result == Result::passed && asked > 0 &&
          static_cast<double>(step->peak_memory_kb) > kNearlyAllMemory * asked) {
        note(fmt::format("{} took {} of {} asked, and real data may be larger", step->node,
                         format_bytes(step->peak_memory_kb * 1024), format_memory_mb(step->asked_memory_mb)));
        break;
      }
    }
    if (here.begins.result != Result::passed) return;
    if (site == 0 && numbers_of(here.begins.node).empty())
      note("the jobs report no metrics: nothing can be followed, compared or stopped early");
    if (site == 0 && layout_.checkpoint.empty())
      note("the jobs leave no checkpoint: a run begins anew with each of them");
  }

  // A resumed job that tells of the first epochs again has not read its checkpoint.
  void judge_resumption(std::size_t site) {
    const RehearsedSite& here = out_.sites[site];
    const auto node = view_.find_node(here.resumes.node);
    if (!node || here.resumes.result != Result::passed) return;
    for (const journal::Message& warning : view_.warnings())
      if (warning.node == *node && warning.about == "foreign_epochs" && warning.epoch <= layout_.epochs)
        out_.faults.push_back(
            fmt::format("{} resumed at epoch {}, not {}: its job does not go on from the checkpoint ({})", here.name,
                        warning.epoch, layout_.epochs + 1, here.resumes.node));
  }

  const journal::View& view_;
  const RehearsalLayout& layout_;
  Rehearsal out_;
};

Json to_json(const RehearsalStep& step) {
  Json json{{"node", step.node},
            {"result", to_string(step.result)},
            {"wall_s", step.wall_s},
            {"peak_memory_kb", step.peak_memory_kb},
            {"asked_memory_mb", step.asked_memory_mb}};
  if (!step.why.empty()) json["why"] = step.why;
  return json;
}

Json to_json(const std::optional<Divergence>& divergence) {
  if (!divergence) return nullptr;
  return {{"metric", divergence->metric},
          {"here", divergence->here},
          {"there", divergence->there},
          {"relative", divergence->relative},
          {"metrics", divergence->metrics}};
}

}  // namespace

std::string_view to_string(Result result) {
  switch (result) {
    case Result::passed:
      return "passed";
    case Result::failed:
      return "failed";
    case Result::not_reached:
      return "not reached";
  }
  return "?";
}

Rehearsal read_rehearsal(const journal::View& view, const RehearsalLayout& layout) {
  return Reader(view, layout).read();
}

Json to_json(const Rehearsal& rehearsal) {
  Json json{{"passed", rehearsal.passed()}, {"time", iso_time(rehearsal.time)}, {"epochs", rehearsal.epochs},
            {"sites", Json::array()},       {"faults", rehearsal.faults},       {"notes", rehearsal.notes}};
  for (const RehearsedSite& site : rehearsal.sites)
    json["sites"].push_back({{"name", site.name},
                             {"begins", to_json(site.begins)},
                             {"resumes", to_json(site.resumes)},
                             {"evaluates", site.evaluates ? to_json(*site.evaluates) : Json(nullptr)},
                             {"epoch_s", site.epoch_s},
                             {"checkpoint_bytes", site.checkpoint_bytes},
                             {"training", to_json(site.training)},
                             {"golden", to_json(site.golden)},
                             {"weights", site.weights ? Json(*site.weights) : Json(nullptr)},
                             {"same_bytes", site.same_bytes}});
  return json;
}

}  // namespace godwit::report
