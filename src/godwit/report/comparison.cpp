#include "godwit/report/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "godwit/base/bookkeeping.h"
#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/report/chain.h"
#include "godwit/report/format.h"

namespace godwit::report {

namespace {

std::string metric_name(const Series& series) {
  return series.evaluation ? "eval." + series.metric : series.metric;
}

}  // namespace

std::uint32_t attempts_of(const Run& run) {
  return std::accumulate(run.jobs.begin(), run.jobs.end(), 0U,
                         [](std::uint32_t sum, const Job& job) { return sum + job.attempts; });
}

std::uint32_t retries_of(const Run& run) {
  return std::accumulate(run.jobs.begin(), run.jobs.end(), 0U,
                         [](std::uint32_t sum, const Job& job) { return sum + job.retries; });
}

double wall_seconds_of(const Run& run) {
  return std::accumulate(run.jobs.begin(), run.jobs.end(), 0.0,
                         [](double sum, const Job& job) { return sum + job.wall_s; });
}

std::string_view to_string(State state) {
  static constexpr std::array<std::string_view, 5> kNames = {"waiting", "running", "finished", "failed", "pruned"};
  return kNames[static_cast<std::size_t>(state)];
}

std::size_t Comparison::finished() const {
  return static_cast<std::size_t>(std::count_if(experiment.runs.begin(), experiment.runs.end(),
                                                [](const Run& run) { return run.state == State::finished; }));
}

std::optional<Interval> CurvePoint::interval() const {
  Summary sample;
  sample.n = n;
  sample.mean = mean;
  sample.sd = sd;
  return mean_interval(sample);
}

std::size_t Comparison::with_records() const {
  return static_cast<std::size_t>(std::count_if(experiment.runs.begin(), experiment.runs.end(),
                                                [](const Run& run) { return !run.records.empty(); }));
}

std::size_t Comparison::invalid() const {
  return static_cast<std::size_t>(std::count_if(experiment.runs.begin(), experiment.runs.end(),
                                                [](const Run& run) { return !run.faults.empty(); }));
}

std::optional<double> usable(const Comparison& comparison, std::size_t run, std::size_t metric) {
  const auto& last = comparison.run_metrics[run][metric].last;
  if (!comparison.experiment.runs[run].counts() || !last || !std::isfinite(last->value)) return {};
  return last->value;
}

const Series* find_series(const Run& run, const Metric& metric) {
  for (const Series& series : run.series)
    if (metric_name(series) == metric.name) return &series;
  return nullptr;
}

bool epoch_times_reported(const Comparison& comparison) {
  return std::all_of(comparison.site_times.begin(), comparison.site_times.end(),
                     [](const SiteTime& site) { return site.reported; });
}

std::string values_label(const Comparison& comparison, const Run& run) {
  std::vector<std::string> parts;
  for (const std::string& name : comparison.varying)
    for (const auto& [key, value] : run.values)
      if (key == name) parts.push_back(fmt::format("{}={}", key, value));
  return join(parts, ", ");
}

namespace {

// Training metrics first, then the evaluation's, each in order of first appearance.
std::vector<Metric> collect_metrics(const Experiment& experiment) {
  std::vector<Metric> metrics;
  std::unordered_map<std::string, bool> seen;
  for (const bool evaluation : {false, true})
    for (const Run& run : experiment.runs)
      for (const Series& series : run.series)
        if (series.evaluation == evaluation && !series.points.empty() && seen.emplace(metric_name(series), true).second)
          metrics.push_back({metric_name(series), evaluation, guess_goal(series.metric)});
  return metrics;
}

// Leaves only what was asked for of it.
void drop_bookkeeping(Experiment& experiment, const std::string& wanted) {
  for (Run& run : experiment.runs)
    std::erase_if(run.series, [&](const Series& series) {
      return is_bookkeeping(series.metric) && series.metric != wanted && metric_name(series) != wanted;
    });
}

const Declaration* declaration_of(const Comparison& comparison, const std::string& metric) {
  for (const Declaration& declared : comparison.experiment.declarations)
    if (declared.metric == metric) return &declared;
  return nullptr;
}

// What was declared of a metric's direction holds.
void follow_declarations(Comparison& comparison) {
  for (Metric& metric : comparison.metrics)
    if (const Declaration* declared = declaration_of(comparison, metric.name); declared != nullptr && declared->goal)
      metric.goal = *declared->goal;
}

void set_goal(Comparison& comparison, Goal goal) {
  Metric& metric = comparison.metrics[comparison.primary];
  const Declaration* declared = declaration_of(comparison, metric.name);
  if (declared != nullptr && declared->goal && *declared->goal != goal)
    throw InputError(fmt::format("the experiment declares that {} values of '{}' are better",
                                 *declared->goal == Goal::lowest ? "low" : "high", printable(metric.name)),
                     "leave --better out");
  metric.goal = goal;
}

std::size_t choose_primary(const Comparison& comparison, const std::string& wanted) {
  const std::vector<Metric>& metrics = comparison.metrics;
  const auto index_of = [&](const std::string& name) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i].name == name) return i;
    return std::nullopt;
  };
  if (wanted.empty()) {
    for (const Declaration& declared : comparison.experiment.declarations)
      if (const auto index = index_of(declared.metric)) return *index;
    return index_of("val_loss").value_or(0);
  }
  if (const auto exact = index_of(wanted)) return *exact;
  if (const auto evaluation = index_of("eval." + wanted)) return *evaluation;
  std::vector<std::string> names;
  names.reserve(metrics.size());
  for (const Metric& metric : metrics) names.push_back(metric.name);
  std::string hint = did_you_mean(wanted, names);
  if (hint.empty()) hint = names.empty() ? "no job has reported a metric" : "there is: " + join(names, ", ");
  throw InputError(fmt::format("no metric '{}' in this experiment", printable(wanted)), hint);
}

RunMetric summarize_series(const Series& series, Goal goal) {
  RunMetric result;
  if (!series.points.empty()) result.last = series.points.back();
  for (const Point& point : series.points) {
    if (!std::isfinite(point.value)) continue;
    const bool better =
        !result.best || (goal == Goal::lowest ? point.value < result.best->value : point.value > result.best->value);
    if (better) result.best = point;
  }
  return result;
}

void collect_run_metrics(Comparison& comparison) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) index.emplace(comparison.metrics[i].name, i);
  for (const Run& run : comparison.experiment.runs) {
    auto& row = comparison.run_metrics.emplace_back(comparison.metrics.size());
    for (const Series& series : run.series)
      if (const auto found = index.find(metric_name(series)); found != index.end())
        row[found->second] = summarize_series(series, comparison.metrics[found->second].goal);
  }
}

std::vector<std::string> varying_variables(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<std::string, bool>, std::less<>> first;  // value, and whether another was seen
  for (const Run& run : runs)
    for (const auto& [key, value] : run.values) {
      const auto [place, fresh] = first.try_emplace(key, value, false);
      if (fresh) names.push_back(key);
      if (place->second.first != value) place->second.second = true;
    }
  std::erase_if(names, [&](const std::string& name) { return !first.find(name)->second.second; });
  return names;
}

// The mean and the range at each epoch over all of `lines`; values that are not finite are left out.
std::vector<CurvePoint> summarize_by_epoch(const std::vector<const std::vector<Point>*>& lines) {
  std::map<int, CurvePoint> epochs;  // `sd` holds the sum of squared deviations until the end
  for (const std::vector<Point>* line : lines)
    for (const Point& point : *line) {
      if (!std::isfinite(point.value)) continue;
      CurvePoint& at =
          epochs.try_emplace(point.epoch, CurvePoint{point.epoch, 0, 0, point.value, point.value, 0}).first->second;
      ++at.n;
      const double before = point.value - at.mean;
      at.mean += before / static_cast<double>(at.n);
      at.sd += before * (point.value - at.mean);
      at.min = std::min(at.min, point.value);
      at.max = std::max(at.max, point.value);
    }
  std::vector<CurvePoint> curve;
  curve.reserve(epochs.size());
  for (auto& [epoch, point] : epochs) {
    point.sd = point.n > 1 ? std::sqrt(point.sd / static_cast<double>(point.n - 1)) : 0;
    curve.push_back(point);
  }
  return curve;
}

GroupMetric summarize_group(const Comparison& comparison, const Group& group, std::size_t metric) {
  GroupMetric result;
  std::vector<double> last, best;
  std::vector<const std::vector<Point>*> lines;
  for (const std::size_t run : group.runs) {
    if (!comparison.experiment.runs[run].counts()) continue;
    const RunMetric& value = comparison.run_metrics[run][metric];
    if (!value.last) {
      ++result.missing;
    } else if (!std::isfinite(value.last->value)) {
      ++result.not_finite;
    } else {
      last.push_back(value.last->value);
      best.push_back(value.best->value);
      lines.push_back(&find_series(comparison.experiment.runs[run], comparison.metrics[metric])->points);
    }
  }
  result.last = summarize(last);
  result.interval = mean_interval(result.last);
  result.best = summarize(best);
  result.curve = summarize_by_epoch(lines);
  return result;
}

// Groups by whether a run is a baseline (`by_role`), by its values (`by_value`), or both: values in order of
// appearance, and of equal values the migrated runs first.
std::vector<Group> make_groups(const Comparison& comparison, bool by_role, bool by_value) {
  std::vector<Group> groups;
  std::map<std::pair<bool, std::string>, std::size_t> places;
  std::map<std::string, std::size_t> first_of_values;
  const auto& runs = comparison.experiment.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::pair<bool, std::string> key = {by_role && runs[i].baseline,
                                              by_value ? values_label(comparison, runs[i]) : std::string()};
    first_of_values.try_emplace(key.second, i);
    const auto [place, fresh] = places.try_emplace(key, groups.size());
    if (fresh) {
      std::string name = by_role ? (key.first ? "baseline" : "migrated") : "";
      if (!key.second.empty()) name = name.empty() ? key.second : fmt::format("{}, {}", key.second, name);
      groups.push_back({name.empty() ? "all runs" : name, key.first, {}, 0, {}});
    }
    Group& group = groups[place->second];
    group.runs.push_back(i);
    if (runs[i].state == State::finished) ++group.finished;
  }
  // A group's first run tells where its values first appeared: its role is looked at within the same values.
  const auto values_of = [&](const Group& group) {
    return by_value ? first_of_values.at(values_label(comparison, runs[group.runs.front()])) : 0;
  };
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    return std::pair(values_of(a), a.baseline) < std::pair(values_of(b), b.baseline);
  });
  for (Group& group : groups)
    for (std::size_t metric = 0; metric < comparison.metrics.size(); ++metric)
      group.metrics.push_back(summarize_group(comparison, group, metric));
  return groups;
}

std::string pair_label(const Comparison& comparison, const Run& run) {
  const std::string values = values_label(comparison, run);
  return fmt::format("{}{}seed {}", values, values.empty() ? "" : ", ", run.seed);
}

double mean_last(const Comparison& comparison, const std::vector<std::size_t>& runs, std::size_t metric) {
  double mean = 0;
  for (const std::size_t run : runs)
    mean += comparison.run_metrics[run][metric].last->value / static_cast<double>(runs.size());
  return mean;
}

// Of the epochs that every run of the pair reports with a finite value.
std::vector<Point> differences_by_epoch(const Comparison& comparison, const Pair& pair, std::size_t metric) {
  struct Sums {
    std::size_t runs = 0;
    double difference = 0;
  };
  std::map<int, Sums> epochs;
  const auto add = [&](const std::vector<std::size_t>& runs, double weight) {
    for (const std::size_t run : runs)
      for (const Point& point : find_series(comparison.experiment.runs[run], comparison.metrics[metric])->points) {
        if (!std::isfinite(point.value)) continue;
        Sums& sums = epochs[point.epoch];
        ++sums.runs;
        sums.difference += weight * point.value / static_cast<double>(runs.size());
      }
  };
  add(pair.migrated, 1);
  add(pair.baseline, -1);
  std::vector<Point> differences;
  for (const auto& [epoch, sums] : epochs)
    if (sums.runs == pair.migrated.size() + pair.baseline.size()) differences.push_back({epoch, sums.difference});
  return differences;
}

PairedMetric pair_metric(const Comparison& comparison, std::size_t metric) {
  PairedMetric result;
  std::vector<Pair> all;
  std::unordered_map<std::string, std::size_t> places;
  const auto& runs = comparison.experiment.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].pair.empty() || !usable(comparison, i, metric)) continue;
    const auto [place, fresh] = places.try_emplace(runs[i].pair, all.size());
    if (fresh) all.push_back({runs[i].pair, pair_label(comparison, runs[i]), {}, {}, 0, 0, 0, {}});
    Pair& pair = all[place->second];
    (runs[i].baseline ? pair.baseline : pair.migrated).push_back(i);
  }
  std::vector<double> differences;
  for (Pair& pair : all) {
    if (pair.migrated.empty() || pair.baseline.empty()) continue;
    pair.migrated_value = mean_last(comparison, pair.migrated, metric);
    pair.baseline_value = mean_last(comparison, pair.baseline, metric);
    pair.difference = pair.migrated_value - pair.baseline_value;
    pair.by_epoch = differences_by_epoch(comparison, pair, metric);
    differences.push_back(pair.difference);
    result.pairs.push_back(std::move(pair));
  }
  std::vector<const std::vector<Point>*> lines;
  lines.reserve(result.pairs.size());
  for (const Pair& pair : result.pairs) lines.push_back(&pair.by_epoch);
  result.curve = summarize_by_epoch(lines);
  result.differences = summarize(differences);
  result.interval = mean_interval(result.differences);
  if (const auto interval = mean_interval(result.differences, 0.90))
    result.smallest_margin = std::max(std::fabs(interval->low), std::fabs(interval->high));
  return result;
}

std::vector<std::size_t> runs_without_partner(const Comparison& comparison) {
  std::unordered_map<std::string, std::array<bool, 2>> finished;
  const auto& runs = comparison.experiment.runs;
  for (const Run& run : runs)
    if (run.counts() && !run.pair.empty()) finished[run.pair][run.baseline ? 1 : 0] = true;
  std::vector<std::size_t> alone;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].counts() && (runs[i].pair.empty() || !finished[runs[i].pair][runs[i].baseline ? 0 : 1]))
      alone.push_back(i);
  return alone;
}

void collect_sites(Comparison& comparison) {
  std::unordered_map<std::string, std::size_t> times;
  for (const Run& run : comparison.experiment.runs) {
    for (const Job& job : run.jobs)
      if (!job.site.empty() &&
          std::find(comparison.sites.begin(), comparison.sites.end(), job.site) == comparison.sites.end())
        comparison.sites.push_back(job.site);
    for (const EpochTime& time : run.epoch_times) {
      const auto [place, fresh] = times.try_emplace(time.site, comparison.site_times.size());
      if (fresh) comparison.site_times.push_back({time.site, {}, {}, true});
      SiteTime& site = comparison.site_times[place->second];
      site.seconds.push_back(time.seconds);
      site.reported = site.reported && time.reported;
    }
  }
  for (SiteTime& site : comparison.site_times) site.summary = summarize(site.seconds);
}

// "runs 3, 7 and 12"; long lists are cut.
std::string name_runs(const Comparison& comparison, const std::vector<std::size_t>& runs) {
  constexpr std::size_t kMost = 8;
  std::string text = runs.size() == 1 ? "run " : "runs ";
  const std::size_t shown = runs.size() > kMost ? kMost : runs.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == runs.size() ? " and " : ", ";
    text += fmt::to_string(comparison.experiment.runs[runs[i]].number);
  }
  if (shown < runs.size()) text += fmt::format(" and {} more", runs.size() - shown);
  return text;
}

std::vector<std::size_t> select(const Comparison& comparison, const auto& wanted) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < comparison.experiment.runs.size(); ++i)
    if (wanted(i)) found.push_back(i);
  return found;
}

void note_unfinished(Comparison& comparison) {
  const auto& runs = comparison.experiment.runs;
  std::vector<std::string> parts;
  for (const State state : {State::running, State::waiting, State::failed}) {
    const auto found = select(comparison, [&](std::size_t i) { return runs[i].state == state; });
    if (!found.empty()) parts.push_back(fmt::format("{} ({})", name_runs(comparison, found), to_string(state)));
  }
  if (!parts.empty())
    comparison.notes.push_back(fmt::format("Not finished and left out of every mean: {}.", join(parts, ", ")));
}

void note_stopped(Comparison& comparison) {
  for (const bool early : {true, false}) {
    std::vector<std::string> parts;
    for (const Run& run : comparison.experiment.runs)
      if (run.stopped && run.stopped->early == early)
        parts.push_back(
            fmt::format("run {} at epoch {} ({})", run.number, run.stopped->epoch, printable(run.stopped->reason)));
    if (parts.empty()) continue;
    comparison.notes.push_back(fmt::format(
        "{}: {}.", early ? "Stopped early, and compared as they were then" : "Pruned, and left out of every mean",
        join(parts, "; ")));
  }
}

// Why a run is not what it says it is: one note a run.
void note_invalid(Comparison& comparison) {
  for (const Run& run : comparison.experiment.runs) {
    if (run.faults.empty()) continue;
    std::vector<std::string> kinds, texts;
    for (const Fault& fault : run.faults) {
      kinds.emplace_back(to_string(fault.kind));
      texts.push_back(printable(fault.text));
    }
    comparison.notes.push_back(fmt::format("Invalid and left out of every mean, pair and verdict: run {} ({}): {}.",
                                           run.number, join(kinds, ", "), join(texts, "; ")));
  }
}

void note_unusable(Comparison& comparison) {
  const std::string& name = comparison.metrics[comparison.primary].name;
  const auto last = [&](std::size_t i) { return comparison.run_metrics[i][comparison.primary].last; };
  const auto finished = [&](std::size_t i) { return comparison.experiment.runs[i].counts(); };
  const auto missing = select(comparison, [&](std::size_t i) { return finished(i) && !last(i); });
  const auto diverged =
      select(comparison, [&](std::size_t i) { return finished(i) && last(i) && !std::isfinite(last(i)->value); });
  if (!missing.empty())
    comparison.notes.push_back(fmt::format("Finished without ever reporting {}: {}; left out.", printable(name),
                                           name_runs(comparison, missing)));
  if (!diverged.empty())
    comparison.notes.push_back(fmt::format("The last {} is not a finite number: {}; left out of its means.",
                                           printable(name), name_runs(comparison, diverged)));
  const auto short_of_end = select(comparison, [&](std::size_t i) {
    return finished(i) && last(i) && !comparison.metrics[comparison.primary].evaluation &&
           last(i)->epoch < comparison.experiment.runs[i].epochs;
  });
  if (!short_of_end.empty())
    comparison.notes.push_back(fmt::format("Finished, but the last {} is of an earlier epoch than the planned one: {}.",
                                           printable(name), name_runs(comparison, short_of_end)));
}

void write_notes(Comparison& comparison) {
  note_invalid(comparison);
  note_stopped(comparison);
  note_unfinished(comparison);
  if (comparison.metrics.empty()) {
    if (comparison.finished() > 0)
      comparison.notes.emplace_back("No job reported a metric: is the metrics file's name right?");
  } else {
    note_unusable(comparison);
  }
  if (comparison.has_baseline && !comparison.unpaired.empty())
    comparison.notes.push_back(
        fmt::format("Finished without a finished, valid partner of the same values and seed: {}; in "
                    "their group's mean, in no paired difference.",
                    name_runs(comparison, comparison.unpaired)));
}

}  // namespace

Comparison compare(Experiment experiment, const Options& options) {
  Comparison comparison;
  comparison.experiment = std::move(experiment);
  drop_bookkeeping(comparison.experiment, options.metric);
  find_faults(comparison.experiment);
  const auto& runs = comparison.experiment.runs;
  comparison.metrics = collect_metrics(comparison.experiment);
  follow_declarations(comparison);
  comparison.primary = choose_primary(comparison, options.metric);
  if (options.goal && comparison.has_metrics()) set_goal(comparison, *options.goal);
  collect_run_metrics(comparison);
  comparison.varying = varying_variables(runs);
  comparison.has_baseline = std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.baseline; });
  comparison.groups = make_groups(comparison, comparison.has_baseline, !comparison.has_baseline);
  if (comparison.has_baseline) {
    comparison.by_values = make_groups(comparison, true, true);
    const bool repeats = std::any_of(comparison.by_values.begin(), comparison.by_values.end(),
                                     [](const Group& group) { return group.runs.size() > 1; });
    if (comparison.varying.empty() || !repeats) comparison.by_values.clear();
    for (std::size_t metric = 0; metric < comparison.metrics.size(); ++metric)
      comparison.paired.push_back(pair_metric(comparison, metric));
    comparison.unpaired = runs_without_partner(comparison);
  }
  collect_sites(comparison);
  if (comparison.has_metrics()) comparison.moves = find_moves(comparison);
  comparison.judgement = judge(comparison);
  write_notes(comparison);
  return comparison;
}

}  // namespace godwit::report
