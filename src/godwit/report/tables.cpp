#include "godwit/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/report/format.h"

namespace godwit::report {

std::string site_path(const Run& run) {
  std::string path;
  for (std::size_t i = 0; i < run.jobs.size();) {
    std::size_t next = i;
    while (next < run.jobs.size() && run.jobs[next].site == run.jobs[i].site) ++next;
    if (!path.empty()) path += " → ";
    path += run.jobs[i].site;
    if (next - i > 1) path += fmt::format("×{}", next - i);
    i = next;
  }
  return path;
}

std::string common_values(const Comparison& comparison) {
  std::vector<std::string> parts;
  if (!comparison.experiment.runs.empty())
    for (const auto& [key, value] : comparison.experiment.runs.front().values)
      if (std::find(comparison.varying.begin(), comparison.varying.end(), key) == comparison.varying.end())
        parts.push_back(key + "=" + value);
  return join(parts, ", ");
}

namespace {

constexpr const char* kNone = "—";

// The ends have the places that the mean's standard error can carry.
std::string interval_text(const Summary& sample, const std::optional<Interval>& interval,
                          std::string (*format)(double, double)) {
  if (!interval) return kNone;
  const double error = standard_error(sample);
  return fmt::format("{} to {}", format(interval->low, error), format(interval->high, error));
}

std::string mean_text(const Summary& summary) {
  if (summary.n == 0) return kNone;
  return summary.n == 1 ? format_number(summary.mean) : format_mean_sd(summary.mean, summary.sd);
}

// The primary metric first, then the others in their order.
std::vector<std::size_t> metric_order(const Comparison& comparison) {
  std::vector<std::size_t> order(comparison.metrics.size());
  std::iota(order.begin(), order.end(), 0);
  if (!order.empty())
    std::rotate(order.begin(), order.begin() + static_cast<long>(comparison.primary),
                order.begin() + static_cast<long>(comparison.primary) + 1);
  return order;
}

// Fills a table from `count` items, cut at `most`.
void fill(Table& table, std::size_t count, std::size_t most, const char* what, const auto& row_of) {
  const std::size_t shown = std::min(count, most);
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(row_of(i));
  if (shown < count) table.note = fmt::format("{} of {} {} shown; --json has them all.", shown, count, what);
}

std::string role(const Run& run) {
  return run.baseline ? "baseline" : "migrated";
}

std::string attempts_text(const Run& run) {
  const std::uint32_t retries = retries_of(run);
  return fmt::format("{}{}", attempts_of(run),
                     retries == 0 ? "" : fmt::format(" ({} retr{})", retries, retries == 1 ? "y" : "ies"));
}

// "finished", or what is wrong with it: "forked at epoch 5".
std::string state_text(const Run& run) {
  if (run.faults.empty()) return std::string(to_string(run.state));
  return fmt::format("{} at epoch {}", to_string(run.faults.front().kind), run.faults.front().epoch);
}

Table runs_table(const Comparison& comparison, std::size_t most) {
  constexpr std::size_t kMostMetrics = 3;
  Table table{"Runs", {{"run", true}, {"uuid"}}, {}, {}};
  if (comparison.has_baseline) table.columns.push_back({"group"});
  for (const std::string& name : comparison.varying) table.columns.push_back({name, true});
  table.columns.insert(table.columns.end(), {{"seed", true}, {"sites"}, {"state"}, {"attempts", true}});
  auto metrics = metric_order(comparison);
  if (metrics.size() > kMostMetrics) metrics.resize(kMostMetrics);
  for (const std::size_t metric : metrics) table.columns.push_back({"last " + comparison.metrics[metric].name, true});
  if (comparison.has_metrics())
    table.columns.push_back({"best " + comparison.metrics[comparison.primary].name + " (epoch)", true});
  const auto& runs = comparison.experiment.runs;
  fill(table, runs.size(), most, "runs", [&](std::size_t i) {
    const Run& run = runs[i];
    std::vector<std::string> row = {fmt::to_string(run.number), run.uuid};
    if (comparison.has_baseline) row.push_back(role(run));
    for (const std::string& name : comparison.varying) {
      const auto found =
          std::find_if(run.values.begin(), run.values.end(), [&](const auto& v) { return v.first == name; });
      row.push_back(found == run.values.end() ? kNone : found->second);
    }
    row.insert(row.end(), {fmt::to_string(run.seed), site_path(run), state_text(run), attempts_text(run)});
    for (const std::size_t metric : metrics) {
      const auto& last = comparison.run_metrics[i][metric].last;
      row.push_back(last ? format_number(last->value) : kNone);
    }
    if (comparison.has_metrics()) {
      const auto& best = comparison.run_metrics[i][comparison.primary].best;
      row.push_back(best ? fmt::format("{} ({})", format_number(best->value), best->epoch) : kNone);
    }
    return row;
  });
  return table;
}

// Groups in the order of a report: as they are where they are few, else the best first.
std::vector<std::size_t> group_order(const Comparison& comparison, const std::vector<Group>& groups) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  if (comparison.has_baseline || !comparison.has_metrics()) return order;
  const bool lowest = comparison.metrics[comparison.primary].goal == Goal::lowest;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Summary& left = groups[a].metrics[comparison.primary].last;
    const Summary& right = groups[b].metrics[comparison.primary].last;
    if ((left.n == 0) != (right.n == 0)) return right.n == 0;
    return lowest ? left.mean < right.mean : left.mean > right.mean;
  });
  return order;
}

std::vector<std::string> group_row(const Group& group, std::size_t metric) {
  const GroupMetric& values = group.metrics[metric];
  const bool any = values.last.n > 0;
  return {group.name,
          fmt::format("{} of {}", values.last.n, group.runs.size()),
          mean_text(values.last),
          interval_text(values.last, values.interval, format_number),
          any ? format_number(values.last.median) : kNone,
          any ? fmt::format("{} to {}", format_number(values.last.min), format_number(values.last.max)) : kNone,
          mean_text(values.best)};
}

std::vector<Column> group_columns() {
  return {{"group"},
          {"runs", true},
          {"last, mean ± sd", true},
          {"95 % interval", true},
          {"median", true},
          {"lowest to highest", true},
          {"best, mean ± sd", true}};
}

Table groups_table(const Comparison& comparison, std::size_t most) {
  Table table{comparison.has_baseline ? "Migrated and baseline" : "Groups by values", group_columns(), {}, {}};
  table.columns.insert(table.columns.begin(), {"metric"});
  const auto metrics = metric_order(comparison);
  const auto order = group_order(comparison, comparison.groups);
  fill(table, metrics.size() * order.size(), most, "rows", [&](std::size_t i) {
    const std::size_t metric = metrics[i / order.size()];
    std::vector<std::string> row = group_row(comparison.groups[order[i % order.size()]], metric);
    row.insert(row.begin(), comparison.metrics[metric].name);
    return row;
  });
  return table;
}

Table values_table(const Comparison& comparison, std::size_t most) {
  Table table{"By values: " + comparison.metrics[comparison.primary].name, group_columns(), {}, {}};
  fill(table, comparison.by_values.size(), most, "groups",
       [&](std::size_t i) { return group_row(comparison.by_values[i], comparison.primary); });
  return table;
}

Table paired_table(const Comparison& comparison, std::size_t most) {
  Table table{"Seed-paired differences, migrated − baseline, of the last values",
              {{"metric"},
               {"pairs", true},
               {"mean", true},
               {"sd", true},
               {"95 % interval", true},
               {"median", true},
               {"provable margin", true}},
              {},
              {}};
  const auto metrics = metric_order(comparison);
  fill(table, metrics.size(), most, "metrics", [&](std::size_t i) {
    const PairedMetric& paired = comparison.paired[metrics[i]];
    const Summary& s = paired.differences;
    const double spread = standard_error(s);
    return std::vector<std::string>{comparison.metrics[metrics[i]].name,
                                    fmt::to_string(s.n),
                                    s.n > 0 ? format_signed(s.mean, spread) : kNone,
                                    s.n > 1 ? format_number(s.sd, spread) : kNone,
                                    interval_text(s, paired.interval, format_signed),
                                    s.n > 0 ? format_signed(s.median, spread) : kNone,
                                    paired.smallest_margin ? format_number(*paired.smallest_margin) : kNone};
  });
  return table;
}

std::string share_text(double part, double whole) {
  const double percent = whole > 0 ? 100 * part / whole : 0;
  return fmt::format("{} % (sd {})", percent > 0 && percent < 0.5 ? "< 1" : fmt::format("{:.0f}", percent),
                     format_number(std::sqrt(part)));
}

// "run 3 at epoch 12".
std::string excursions_text(const Comparison& comparison, const Bands& bands) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  for (const Excursion& out : bands.outside)
    if (parts.size() < kMost)
      parts.push_back(fmt::format("run {} at epoch {}", comparison.experiment.runs[out.run].number, out.epoch));
  if (parts.empty()) return "no run leaves the band that all epochs together keep to";
  const std::size_t more = bands.outside.size() - parts.size();
  return "farther out than chance: " + join(parts, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::vector<std::string> bands_row(const Comparison& comparison, const Moves& moves) {
  const std::string what = "migrated epochs within the 95 % band of baseline runs";
  if (!moves.bands) return {what, kNone, moves.no_bands};
  const Bands& bands = *moves.bands;
  return {
      what,
      fmt::format("{:.0f} % ({} of {})", 100.0 * static_cast<double>(bands.inside) / static_cast<double>(bands.values),
                  bands.inside, bands.values),
      excursions_text(comparison, bands)};
}

std::vector<std::string> jumps_row(const Moves& moves) {
  const std::string what = "jump where the site changes";
  if (!moves.jumps) return {what, kNone, moves.no_jumps};
  const Jumps& jumps = *moves.jumps;
  const double error = standard_error(jumps.sizes);
  return {what, format_signed(jumps.sizes.mean, error),
          fmt::format("95 % interval {}, p = {:.2g}; {}, {} of site",
                      interval_text(jumps.sizes, jumps.interval, format_signed), jumps.p,
                      format_count(jumps.sizes.n, "pair"), format_count(jumps.changes, "change"))};
}

void add_spread_rows(Table& table, const Moves& moves) {
  if (!moves.spread) {
    table.rows.push_back({"variance by seed, site and rest", kNone, moves.no_spread});
    return;
  }
  const auto& [parts, with_sites, seeds_hold_values] = *moves.spread;
  table.rows.push_back({seeds_hold_values ? "variance of seed and values" : "variance of the seed",
                        share_text(parts.seed, parts.total()), format_count(parts.seeds, "seed")});
  table.rows.push_back({"variance of the site", with_sites ? share_text(parts.site, parts.total()) : kNone,
                        with_sites ? format_count(parts.sites, "site") : "all runs were at the same sites"});
  table.rows.push_back(
      {"variance of the rest", share_text(parts.rest, parts.total()), format_count(parts.observations, "run")});
}

// What moving did along the way, as far as that shows.
Table moves_table(const Comparison& comparison) {
  Table table{"What moving did: " + comparison.metrics[comparison.primary].name,
              {{"what"}, {"value", true}, {"of which"}},
              {},
              {}};
  table.rows.push_back(bands_row(comparison, *comparison.moves));
  table.rows.push_back(jumps_row(*comparison.moves));
  add_spread_rows(table, *comparison.moves);
  return table;
}

std::vector<std::string> landscape_row(const char* what, const Summary& same_seed, const Summary& yardstick) {
  const auto counted = [](const Summary& summary) {
    return summary.n == 0 ? kNone : fmt::format("{} (n = {})", mean_text(summary), summary.n);
  };
  const bool comparable = same_seed.n > 0 && yardstick.n > 0 && yardstick.mean > 0;
  return {what, counted(same_seed), counted(yardstick),
          comparable ? format_number(same_seed.mean / yardstick.mean) : kNone};
}

// Where the weights lie: pairs beside the yardstick.
Table landscape_table(const Landscape& landscape) {
  Table table{"Where the last weights lie",
              {{"what"}, {"migrated and its baseline", true}, {"baselines of other seeds", true}, {"ratio", true}},
              {},
              {}};
  std::vector<std::string> notes;
  const auto add_missing = [&](const char* row, const char* subject, const std::string& reason) {
    if (reason.empty()) return;
    table.rows.push_back({row, "not computed", kNone, kNone});
    notes.push_back(fmt::format("{} not computed: {}.", subject, reason));
  };
  if (landscape.distances)
    table.rows.push_back(
        landscape_row("relative distance of weights", landscape.distances->same_seed, landscape.distances->yardstick));
  else
    add_missing("relative distance of weights", "Distance of weights", landscape.no_distances);
  if (landscape.barriers)
    table.rows.push_back(landscape_row(("barrier of " + landscape.barriers->metric).c_str(),
                                       landscape.barriers->same_seed, landscape.barriers->yardstick));
  else
    add_missing("barrier", "Barrier", landscape.no_barriers);
  if (landscape.barriers && !landscape.no_barriers.empty())
    notes.push_back(fmt::format("Barriers of some pairs are missing: {}.", landscape.no_barriers));
  table.note = join(notes, " ");
  return table;
}

Table times_table(const Comparison& comparison, std::size_t most) {
  Table table{"Time per epoch by site",
              {{"site"},
               {"epochs", true},
               {"median", true},
               {"mean", true},
               {"sd", true},
               {"shortest", true},
               {"longest", true}},
              {},
              {}};
  fill(table, comparison.site_times.size(), most, "sites", [&](std::size_t i) {
    const Summary& s = comparison.site_times[i].summary;
    return std::vector<std::string>{comparison.site_times[i].site,
                                    fmt::to_string(s.n),
                                    format_duration(s.median),
                                    format_duration(s.mean),
                                    s.n > 1 ? format_duration(s.sd) : kNone,
                                    format_duration(s.min),
                                    format_duration(s.max)};
  });
  if (table.note.empty() && !epoch_times_reported(comparison))
    table.note = "Jobs told no times: these are between their lines, or wall time shared among short epochs.";
  return table;
}

std::string describe_mean_difference(const PairedMetric& paired) {
  const double spread = standard_error(paired.differences);
  return format_number(std::fabs(paired.differences.mean), spread) +
         (paired.differences.mean < 0 ? " lower" : " higher");
}

std::string difference_sentence(const Comparison& comparison) {
  const PairedMetric& paired = comparison.paired[comparison.primary];
  if (paired.pairs.empty()) return " No migrated run and its baseline run are both finished yet.";
  const std::string& name = comparison.metrics[comparison.primary].name;
  const Summary& s = paired.differences;
  if (s.min == 0 && s.max == 0)
    return fmt::format(" The last {} of every migrated run equals that of its seed-paired baseline exactly ({}).", name,
                       format_count(s.n, "pair"));
  std::string text = fmt::format(" The last {} of migrated runs is {} than that of their seed-paired baselines", name,
                                 describe_mean_difference(paired));
  if (!paired.interval)
    return text + fmt::format(" ({}, from which no interval can be had).", format_count(s.n, "pair"));
  text += fmt::format(" on average ({}, 95 % interval {}).", format_count(s.n, "pair"),
                      interval_text(s, paired.interval, format_signed));
  const bool zero_inside = paired.interval->low <= 0 && 0 <= paired.interval->high;
  return text + (zero_inside
                     ? " The interval holds zero: that shows no difference, and does not prove that there is none."
                     : " The interval does not hold zero.");
}

}  // namespace

std::string headline(const Comparison& comparison) {
  const std::size_t all = comparison.experiment.runs.size();
  const std::size_t finished = comparison.finished();
  if (finished == 0) return fmt::format("Nothing is finished: 0 of {}.", format_count(all, "run"));
  std::string text = fmt::format("{} of {} finished.", finished, format_count(all, "run"));
  if (const std::size_t invalid = comparison.invalid(); invalid > 0)
    text += fmt::format(" {} {} not what {} to be.", format_count(invalid, "run"), invalid == 1 ? "is" : "are",
                        invalid == 1 ? "it claims" : "they claim");
  // The verdict says it better.
  const auto& judgement = comparison.judgement;
  const bool judged = judgement && judgement->verdict.test && judgement->verdict.metric == comparison.primary;
  if (comparison.has_metrics() && comparison.has_baseline && !judged) text += difference_sentence(comparison);
  return text;
}

std::vector<Table> make_tables(const Comparison& comparison, std::size_t most_rows) {
  std::vector<Table> tables = {runs_table(comparison, most_rows)};
  if (comparison.has_metrics() && comparison.finished() > 0) {
    tables.push_back(groups_table(comparison, most_rows));
    if (!comparison.by_values.empty()) tables.push_back(values_table(comparison, most_rows));
    if (comparison.has_baseline) tables.push_back(paired_table(comparison, most_rows));
    if (comparison.has_baseline && comparison.moves) tables.push_back(moves_table(comparison));
  }
  if (comparison.has_baseline && comparison.landscape) tables.push_back(landscape_table(*comparison.landscape));
  if (!comparison.site_times.empty()) tables.push_back(times_table(comparison, most_rows));
  return tables;
}

}  // namespace godwit::report
