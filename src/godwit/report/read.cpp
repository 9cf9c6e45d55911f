#include "godwit/report/read.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "godwit/journal/metrics.h"
#include "godwit/journal/stitch.h"

namespace godwit::report {
namespace {

// Seconds. The engine reads lines now and then: times between lines of shorter epochs say when it read, not when they
// were written.
constexpr double kReadsBlur = 3;

State state_of(journal::NodeState state) {
  switch (state) {
    case journal::NodeState::done:
      return State::finished;
    case journal::NodeState::active:
      return State::running;
    case journal::NodeState::failed:
    case journal::NodeState::futile:
      return State::failed;
    case journal::NodeState::pruned:
      return State::pruned;
    case journal::NodeState::waiting:
    case journal::NodeState::ready:
    case journal::NodeState::queued:
      break;
  }
  return State::waiting;
}

State state_of(const std::vector<Job>& jobs) {
  const auto any = [&](State state) {
    return std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) { return job.state == state; });
  };
  if (any(State::failed)) return State::failed;
  if (!any(State::running) && !any(State::waiting)) return jobs.empty() ? State::waiting : State::finished;
  return any(State::running) || any(State::finished) ? State::running : State::waiting;
}

Job read_job(const journal::View& view, journal::NodeIndex index) {
  const journal::Node& node = view.nodes()[index];
  Job job;
  job.node = view.name_of(index);
  job.site = view.site_name(node.site);
  job.first_epoch = static_cast<int>(node.first_epoch);
  job.last_epoch = static_cast<int>(node.last_epoch);
  job.state = state_of(node.state);
  job.attempts = node.attempts;
  for (const journal::AttemptIndex place : view.attempts_of(index)) {
    const journal::Attempt& attempt = view.attempts()[place];
    if (view.text(attempt.phase) != "job") continue;
    job.wall_s += attempt.wall_s;
    if (view.text(attempt.retry) == "retried") ++job.retries;
  }
  return job;
}

void add_series(Run& run, const std::vector<journal::EpochMetrics>& epochs, bool evaluation) {
  std::map<std::string, std::size_t, std::less<>> places;
  for (const journal::EpochMetrics& epoch : epochs)
    for (const auto& [key, value] : epoch.metrics.items()) {
      const bool own = key.empty() || key.front() == '_' || key == "epoch";  // what it is told by, not what
      const auto number = own ? std::nullopt : journal::metric_value(value);
      if (!number) continue;
      const auto [place, fresh] = places.try_emplace(key, run.series.size());
      if (fresh) run.series.push_back({key, evaluation, {}});
      run.series[place->second].points.push_back({static_cast<int>(epoch.epoch), *number});
    }
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void add_records(Run& run, const std::vector<journal::EpochMetrics>& epochs) {
  for (const journal::EpochMetrics& epoch : epochs) {
    const auto told = epoch.metrics.find("provenance");
    if (told == epoch.metrics.end() || !told->is_object()) continue;
    run.records.push_back({static_cast<int>(epoch.epoch), text_in(*told, "parent_checkpoint"),
                           text_in(*told, "checkpoint"), text_in(*told, "rng_state"), text_in(*told, "data_order")});
  }
}

double number_in(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

Declaration read_declaration(const journal::Declaration& source) {
  Declaration declared;
  declared.time = source.time;
  declared.lines_before = source.lines_before;
  declared.metric = text_in(source.json, "metric");
  if (const std::string better = text_in(source.json, "better"); !better.empty())
    declared.goal = better == "high" ? Goal::highest : Goal::lowest;
  declared.margin.margin = number_in(source.json, "margin", 0);
  declared.margin.alpha = number_in(source.json, "alpha", declared.margin.alpha);
  // What no version of ours wrote is no declaration.
  const bool whole = declared.margin.margin > 0 && declared.margin.alpha > 0 && declared.margin.alpha < 0.5;
  if (!whole) declared.metric.clear();
  return declared;
}

using AttemptName = std::pair<journal::NodeIndex, std::uint32_t>;

// The wall time of an attempt that has ended; nullopt while it runs.
std::optional<double> wall_seconds(const journal::View& view, const AttemptName& name) {
  for (const journal::AttemptIndex place : view.attempts_of(name.first)) {
    const journal::Attempt& attempt = view.attempts()[place];
    if (attempt.number == name.second && view.text(attempt.phase) == "job" && attempt.has_ended())
      return attempt.wall_s;
  }
  return std::nullopt;
}

void add_epoch_times(const journal::View& view, Run& run, const std::vector<journal::EpochMetrics>& epochs) {
  std::map<AttemptName, std::size_t> told;
  for (const journal::EpochMetrics& epoch : epochs) ++told[{epoch.node, epoch.attempt}];
  for (const journal::EpochMetrics& epoch : epochs) {
    const bool reported = epoch.metrics.contains("seconds");
    std::optional<double> seconds = epoch.seconds;
    const AttemptName attempt = {epoch.node, epoch.attempt};
    if (const auto wall = reported ? std::nullopt : wall_seconds(view, attempt)) {
      const double share = *wall / static_cast<double>(told[attempt]);
      if (share < kReadsBlur) seconds = share;
    }
    if (seconds)
      run.epoch_times.push_back(
          {std::string(view.site_name(epoch.site)), static_cast<int>(epoch.epoch), *seconds, reported});
  }
}

Run read_run(const journal::View& view, journal::RunIndex index) {
  const journal::Run& source = view.runs()[index];
  Run run;
  run.number = source.number;
  run.uuid = source.uuid;
  run.seed = source.seed;
  run.replicate = source.replicate;
  run.baseline = source.baseline;
  run.pair = source.pair;
  run.values = source.values;
  run.epochs = static_cast<int>(source.epochs);
  for (const journal::NodeIndex node : source.nodes)
    if (view.text(view.nodes()[node].kind) == "train" && view.nodes()[node].state != journal::NodeState::pruned)
      run.jobs.push_back(read_job(view, node));
  std::stable_sort(run.jobs.begin(), run.jobs.end(),
                   [](const Job& a, const Job& b) { return a.first_epoch < b.first_epoch; });
  run.state = state_of(run.jobs);
  if (source.steered && source.steered->pruned) {
    const journal::Steered& steered = *source.steered;
    run.stopped = Stopped{static_cast<int>(steered.epoch), steered.by == "early_stop", steered.reason};
    if (!run.stopped->early && run.state == State::finished) run.state = State::pruned;
    if (run.jobs.empty()) run.state = State::pruned;
  }
  const auto training = journal::stitch(view, index, "train");
  add_series(run, training, false);
  add_series(run, journal::stitch(view, index, "evaluate"), true);
  add_epoch_times(view, run, training);
  add_records(run, training);
  return run;
}

}  // namespace

Experiment read_experiment(const journal::View& view) {
  Experiment experiment;
  experiment.name = view.dag().name;
  experiment.uuid = view.dag().uuid;
  experiment.file = view.dag().file;
  for (journal::RunIndex run = 0; run < view.runs().size(); ++run)
    if (!view.runs()[run].orphaned) experiment.runs.push_back(read_run(view, run));
  std::stable_sort(experiment.runs.begin(), experiment.runs.end(),
                   [](const Run& a, const Run& b) { return a.number < b.number; });
  for (const journal::Declaration& declared : view.declarations())
    experiment.declarations.push_back(read_declaration(declared));
  return experiment;
}

Experiment read_experiment(const journal::View& view, const Json& declared_now) {
  Experiment experiment = read_experiment(view);
  const auto& known = view.declarations();
  if (declared_now != (known.empty() ? Json::object() : known.back().json))
    experiment.declarations.push_back(read_declaration({0, view.metrics().size(), declared_now}));
  return experiment;
}

}  // namespace godwit::report
