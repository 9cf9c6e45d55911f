#include "godwit/report/document.h"

#include <cmath>
#include <map>

namespace godwit::report {
namespace {

std::string_view goal_text(Goal goal) {
  return goal == Goal::lowest ? "lowest" : "highest";
}

Json point_json(const std::optional<Point>& point) {
  if (!point) return nullptr;
  Json json = {{"epoch", point->epoch}, {"value", nullptr}};
  if (std::isfinite(point->value))
    json["value"] = point->value;
  else
    json["not_finite"] = std::isnan(point->value) ? "nan" : point->value > 0 ? "inf" : "-inf";
  return json;
}

Json points_json(const std::vector<Point>& points) {
  Json json = Json::array();
  for (const Point& point : points) json.push_back(point_json(point));
  return json;
}

Json summary_json(const Summary& summary) {
  Json json = {{"n", summary.n}};
  if (summary.n == 0) return json;
  json["mean"] = summary.mean;
  json["sd"] = summary.n > 1 ? Json(summary.sd) : Json(nullptr);
  json["min"] = summary.min;
  json["lower_quartile"] = summary.lower_quartile;
  json["median"] = summary.median;
  json["upper_quartile"] = summary.upper_quartile;
  json["max"] = summary.max;
  return json;
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json curve_json(const std::vector<CurvePoint>& curve) {
  Json json = Json::array();
  for (const CurvePoint& point : curve)
    json.push_back(
        {{"epoch", point.epoch}, {"n", point.n}, {"mean", point.mean}, {"min", point.min}, {"max", point.max}});
  return json;
}

Json numbers_json(const Comparison& comparison, const std::vector<std::size_t>& runs) {
  Json json = Json::array();
  for (const std::size_t run : runs) json.push_back(comparison.experiment.runs[run].number);
  return json;
}

Json epoch_times_json(const Run& run) {
  std::map<std::string, std::vector<double>> sites;
  for (const EpochTime& time : run.epoch_times) sites[time.site].push_back(time.seconds);
  Json json = Json::object();
  for (const auto& [site, seconds] : sites) json[site] = summary_json(summarize(seconds));
  return json;
}

Json jobs_json(const Run& run) {
  Json jobs = Json::array();
  for (const Job& job : run.jobs)
    jobs.push_back({{"node", job.node},
                    {"site", job.site},
                    {"first_epoch", job.first_epoch},
                    {"last_epoch", job.last_epoch},
                    {"state", to_string(job.state)},
                    {"attempts", job.attempts},
                    {"retries", job.retries},
                    {"wall_s", job.wall_s}});
  return jobs;
}

Json run_json(const Comparison& comparison, std::size_t index) {
  const Run& run = comparison.experiment.runs[index];
  Json values = Json::object();
  for (const auto& [name, value] : run.values) values[name] = value;
  Json metrics = Json::object();
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    const RunMetric& metric = comparison.run_metrics[index][i];
    const Series* series = find_series(run, comparison.metrics[i]);
    if (series != nullptr)
      metrics[comparison.metrics[i].name] = {
          {"last", point_json(metric.last)}, {"best", point_json(metric.best)}, {"curve", points_json(series->points)}};
  }
  return {{"number", run.number},
          {"uuid", run.uuid},
          {"seed", run.seed},
          {"replicate", run.replicate},
          {"baseline", run.baseline},
          {"pair", run.pair},
          {"values", values},
          {"state", to_string(run.state)},
          {"epochs", run.epochs},
          {"attempts", attempts_of(run)},
          {"retries", retries_of(run)},
          {"wall_s", wall_seconds_of(run)},
          {"jobs", jobs_json(run)},
          {"metrics", metrics},
          {"epoch_time_s", epoch_times_json(run)}};
}

Json groups_json(const Comparison& comparison, const std::vector<Group>& groups) {
  Json json = Json::array();
  for (const Group& group : groups) {
    Json metrics = Json::object();
    for (std::size_t i = 0; i < group.metrics.size(); ++i) {
      const GroupMetric& metric = group.metrics[i];
      metrics[comparison.metrics[i].name] = {
          {"last", summary_json(metric.last)}, {"interval_95", interval_json(metric.interval)},
          {"best", summary_json(metric.best)}, {"not_finite", metric.not_finite},
          {"missing", metric.missing},         {"curve", curve_json(metric.curve)}};
    }
    json.push_back({{"name", group.name},
                    {"baseline", group.baseline},
                    {"runs", numbers_json(comparison, group.runs)},
                    {"finished", group.finished},
                    {"metrics", metrics}});
  }
  return json;
}

Json paired_json(const Comparison& comparison, const PairedMetric& paired) {
  Json pairs = Json::array();
  for (const Pair& pair : paired.pairs)
    pairs.push_back({{"pair", pair.key},
                     {"label", pair.label},
                     {"migrated", numbers_json(comparison, pair.migrated)},
                     {"baseline", numbers_json(comparison, pair.baseline)},
                     {"migrated_value", pair.migrated_value},
                     {"baseline_value", pair.baseline_value},
                     {"difference", pair.difference},
                     {"by_epoch", points_json(pair.by_epoch)}});
  return {{"difference", summary_json(paired.differences)},
          {"interval_95", interval_json(paired.interval)},
          {"pairs", pairs},
          {"curve", curve_json(paired.curve)}};
}

}  // namespace

Json to_json(const Comparison& comparison) {
  const Experiment& experiment = comparison.experiment;
  Json json = {{"experiment", {{"name", experiment.name}, {"uuid", experiment.uuid}, {"file", experiment.file}}},
               {"finished", comparison.finished()},
               {"primary_metric", nullptr},
               {"metrics", Json::array()},
               {"varying", comparison.varying},
               {"notes", comparison.notes},
               {"groups", groups_json(comparison, comparison.groups)},
               {"by_values", groups_json(comparison, comparison.by_values)},
               {"paired", Json::object()},
               {"unpaired", numbers_json(comparison, comparison.unpaired)},
               {"epoch_time_s", Json::object()},
               {"runs", Json::array()}};
  if (comparison.has_metrics()) json["primary_metric"] = comparison.metrics[comparison.primary].name;
  for (const Metric& metric : comparison.metrics)
    json["metrics"].push_back({{"name", metric.name},
                               {"source", metric.evaluation ? "evaluation" : "training"},
                               {"better", goal_text(metric.goal)}});
  for (std::size_t i = 0; i < comparison.paired.size(); ++i)
    json["paired"][comparison.metrics[i].name] = paired_json(comparison, comparison.paired[i]);
  for (const SiteTime& site : comparison.site_times) {
    json["epoch_time_s"][site.site] = summary_json(site.summary);
    json["epoch_time_s"][site.site]["reported"] = site.reported;
  }
  for (std::size_t i = 0; i < experiment.runs.size(); ++i) json["runs"].push_back(run_json(comparison, i));
  return json;
}

}  // namespace godwit::report
