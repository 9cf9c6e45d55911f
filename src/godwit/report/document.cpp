#include "godwit/report/document.h"

#include <cmath>
#include <map>

#include "godwit/base/clock.h"

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
    json.push_back({{"epoch", point.epoch},
                    {"n", point.n},
                    {"mean", point.mean},
                    {"sd", point.n > 1 ? Json(point.sd) : Json(nullptr)},
                    {"interval_95", interval_json(point.interval())},
                    {"min", point.min},
                    {"max", point.max}});
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
          {"valid", run.faults.empty()},
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
          {"smallest_margin", paired.smallest_margin ? Json(*paired.smallest_margin) : Json(nullptr)},
          {"pairs", pairs},
          {"curve", curve_json(paired.curve)}};
}

Json declaration_json(const Declaration& declared) {
  Json json = {{"metric", declared.metric},
               {"margin", declared.margin.margin},
               {"alpha", declared.margin.alpha},
               {"better", nullptr},
               {"time", nullptr},
               {"lines_before", declared.lines_before}};
  if (declared.goal) json["better"] = *declared.goal == Goal::lowest ? "low" : "high";
  if (declared.time != 0) json["time"] = iso_time(declared.time);
  return json;
}

Json test_json(const Equivalence& test) {
  return {{"test", test.paired ? "paired" : "welch"},
          {"migrated", test.migrated},
          {"baseline", test.baseline},
          {"difference", test.difference},
          {"standard_error", test.standard_error},
          {"df", test.df},
          {"interval", interval_json(test.interval)},
          {"interval_level", 1 - 2 * test.margin.alpha},
          {"difference_interval", interval_json(test.wide_interval)},
          {"difference_interval_level", 1 - test.margin.alpha},
          {"p_lower", test.p_lower},
          {"p_upper", test.p_upper},
          {"p_equivalence", test.p_equivalence()},
          {"p_difference", test.p_difference},
          {"beyond_margin", test.beyond_margin},
          {"smallest_margin", test.smallest_margin},
          {"power", test.power},
          {"power_wanted", kPowerWanted},
          {"needed", test.needed ? Json(*test.needed) : Json(nullptr)}};
}

Json judged_json(const Judged& judged) {
  Json json = {{"declared", declaration_json(judged.declared)}, {"verdict", nullptr}, {"test", nullptr}};
  if (judged.test) {
    json["verdict"] = to_string(judged.test->verdict);
    json["test"] = test_json(*judged.test);
  } else {
    json["reason"] = judged.reason;
  }
  return json;
}

Json verdict_json(const Comparison& comparison) {
  if (!comparison.judgement) return nullptr;
  const Judgement& judgement = *comparison.judgement;
  Json json = judged_json(judgement.verdict);
  json["declared_beforehand"] = judgement.beforehand;
  json["interim"] = judgement.interim;
  json["changed_afterwards"] = Json::array();
  for (const Judged& change : judgement.changes) json["changed_afterwards"].push_back(judged_json(change));
  return json;
}

Json bands_json(const Comparison& comparison, const Bands& bands) {
  Json json = {
      {"values", bands.values}, {"inside", bands.inside}, {"outside", Json::array()}, {"cells", Json::array()}};
  for (const Excursion& out : bands.outside)
    json["outside"].push_back(
        {{"run", comparison.experiment.runs[out.run].number}, {"epoch", out.epoch}, {"t", out.t}});
  for (const CellBand& cell : bands.cells) {
    Json points = Json::array();
    for (const BandPoint& point : cell.points)
      points.push_back({{"epoch", point.epoch}, {"low", point.low}, {"high", point.high}});
    json["cells"].push_back({{"values", cell.values}, {"band_95", points}});
  }
  return json;
}

Json spread_json(const Spread& spread) {
  Json json = {{"seed", spread.parts.seed},         {"site", nullptr},
               {"rest", spread.parts.rest},         {"seed_and_values_together", spread.seeds_hold_values},
               {"runs", spread.parts.observations}, {"seeds", spread.parts.seeds},
               {"cells", spread.parts.cells},       {"sites", spread.parts.sites}};
  if (spread.with_sites) json["site"] = spread.parts.site;
  return json;
}

Json moves_json(const Comparison& comparison) {
  if (!comparison.moves) return nullptr;
  const Moves& moves = *comparison.moves;
  Json json = Json::object();
  const auto put = [&](const char* key, const auto& value, const std::string& reason, const auto& to) {
    json[key] = value ? to(*value) : Json{{"not_computed", reason}};
  };
  put("bands", moves.bands, moves.no_bands, [&](const Bands& bands) { return bands_json(comparison, bands); });
  put("jumps", moves.jumps, moves.no_jumps, [](const Jumps& jumps) {
    return Json{{"changes", jumps.changes},
                {"jump", summary_json(jumps.sizes)},
                {"interval_95", interval_json(jumps.interval)},
                {"p", jumps.p}};
  });
  put("variance", moves.spread, moves.no_spread, spread_json);
  return json;
}

Json run_pair_json(const Comparison& comparison, const RunPair& pair) {
  return {{"runs", {comparison.experiment.runs[pair.a].number, comparison.experiment.runs[pair.b].number}},
          {"same_seed", pair.same_seed}};
}

Json distances_json(const Comparison& comparison, const Distances& distances) {
  Json all = Json::array();
  for (const Distance& distance : distances.all) {
    Json json = run_pair_json(comparison, distance.runs);
    json["relative"] = distance.weights.relative();
    json["cosine"] = distance.weights.cosine();
    json["weights"] = distance.weights.weights;
    all.push_back(std::move(json));
  }
  return {{"same_seed", summary_json(distances.same_seed)},
          {"yardstick", summary_json(distances.yardstick)},
          {"pairs", all}};
}

Json barriers_json(const Comparison& comparison, const Barriers& barriers) {
  Json all = Json::array();
  for (const Barrier& barrier : barriers.all) {
    Json json = run_pair_json(comparison, barrier.runs);
    json["height"] = barrier.height;
    json["line"] = Json::array();
    for (const auto& [place, value] : barrier.line) json["line"].push_back({{"place", place}, {"value", value}});
    all.push_back(std::move(json));
  }
  return {{"metric", barriers.metric},
          {"better", barriers.high_is_better ? "high" : "low"},
          {"same_seed", summary_json(barriers.same_seed)},
          {"yardstick", summary_json(barriers.yardstick)},
          {"pairs", all}};
}

// What was not asked for is not there.
Json landscape_json(const Comparison& comparison) {
  Json json = Json::object();
  if (!comparison.landscape) return json;
  const Landscape& landscape = *comparison.landscape;
  if (landscape.distances) json["distance"] = distances_json(comparison, *landscape.distances);
  if (!landscape.no_distances.empty()) json["distance"]["not_computed"] = landscape.no_distances;
  if (landscape.barriers) json["barrier"] = barriers_json(comparison, *landscape.barriers);
  if (!landscape.no_barriers.empty()) json["barrier"]["not_computed"] = landscape.no_barriers;
  return json;
}

Json provenance_json(const Comparison& comparison) {
  Json invalid = Json::array();
  for (const Run& run : comparison.experiment.runs)
    for (const Fault& fault : run.faults)
      invalid.push_back(
          {{"run", run.number}, {"fault", to_string(fault.kind)}, {"epoch", fault.epoch}, {"text", fault.text}});
  return {{"runs_with_records", comparison.with_records()}, {"invalid", invalid}};
}

}  // namespace

Json to_json(const Comparison& comparison) {
  const Experiment& experiment = comparison.experiment;
  Json json = {{"experiment", {{"name", experiment.name}, {"uuid", experiment.uuid}, {"file", experiment.file}}},
               {"finished", comparison.finished()},
               {"primary_metric", nullptr},
               {"metrics", Json::array()},
               {"verdict", verdict_json(comparison)},
               {"provenance", provenance_json(comparison)},
               {"moves", moves_json(comparison)},
               {"weights", landscape_json(comparison)},
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
