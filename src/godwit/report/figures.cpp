#include "godwit/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/report/figure_parts.h"
#include "godwit/report/format.h"

namespace godwit::report {
namespace {

constexpr std::size_t kMostLines = 60;     // single runs drawn in one chart
constexpr std::size_t kMostPathRows = 40;  // rows of "what ran where"
constexpr std::size_t kMostPairRows = 24;  // pairs with a row each; more become a strip
constexpr std::size_t kMostDots = 400;
constexpr double kLeft = 66;
constexpr double kRight = 14;

const Metric& primary(const Comparison& comparison) {
  return comparison.metrics[comparison.primary];
}

// --- curves by epoch
// --------------------------------------------------------------------------------------------------

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  Range widened(double part) const {
    const double margin = (high - low) * part;
    return {low - margin, high + margin};
  }
};

Scale value_scale(const Range& range, bool may_be_logarithmic, const Frame& frame) {
  constexpr double kRatio = 6;  // from here on a straight axis hides how training ends
  if (may_be_logarithmic && range.low > 0 && range.high / range.low > kRatio)
    return Scale::logarithmic(range.low / 1.06, range.high * 1.06, frame.bottom(), frame.corner.y);
  const Range wide = range.widened(0.04);
  return Scale::linear(wide.low, wide.high, frame.bottom(), frame.corner.y);
}

std::vector<Place> places_of(const std::vector<Point>& line, const Scale& x, const Scale& y, const Frame& frame) {
  std::vector<Place> places;
  for (const Point& point : line) {
    const double at = y(point.value);
    const bool inside = at >= frame.corner.y - 1 && at <= frame.bottom() + 1;
    places.push_back({x(point.epoch), inside ? at : std::numeric_limits<double>::quiet_NaN()});
  }
  return places;
}

void draw_band(Drawing& drawing, const std::vector<CurvePoint>& curve, const Scale& x, const Scale& y,
               const std::string& css) {
  std::vector<Place> upper, lower;
  for (const CurvePoint& point : curve) {
    upper.push_back({x(point.epoch), y(point.max)});
    lower.push_back({x(point.epoch), y(point.min)});
  }
  drawing.band(upper, lower, "band " + css);
}

void draw_mean(Drawing& drawing, const std::vector<CurvePoint>& curve, const Scale& x, const Scale& y,
               const std::string& css, const std::string& tip) {
  std::vector<Place> places;
  for (const CurvePoint& point : curve) places.push_back({x(point.epoch), y(point.mean)});
  drawing.polyline(places, "line " + css, tip);
}

// A stroke across the line at each of the run's changes of site, in the colour of the site it came to.
void draw_site_ticks(Drawing& drawing, const Comparison& comparison, const Legend& legend, std::size_t run,
                     const std::vector<Point>& line, const Scale& x, const Scale& y) {
  for (const SiteChange& change : site_changes(comparison.experiment.runs[run])) {
    const Place at = {x(change.epoch), y(value_at(line, change.epoch))};
    drawing.line({at.x, at.y - 5}, {at.x, at.y + 5}, "tick " + legend.site_class(change.to),
                 fmt::format("{}: {} → {} after epoch {}", run_tip(comparison, run), change.from, change.to,
                             static_cast<int>(change.epoch)));
  }
}

std::string counted_group(const Group& group, std::size_t n) {
  return fmt::format("{} ({} run{})", group.name, n, n == 1 ? "" : "s");
}

std::vector<LegendItem> group_items(const Comparison& comparison, const Legend& legend) {
  std::vector<LegendItem> items;
  std::size_t others = 0;
  for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
    const Group& group = comparison.groups[i];
    if (legend.group_class(i) == "gx")
      ++others;
    else
      items.push_back({LegendItem::Mark::line, legend.group_class(i),
                       counted_group(group, group.metrics[comparison.primary].last.n)});
  }
  if (others > 0) items.push_back({LegendItem::Mark::line, "gx", fmt::format("{} other groups", others)});
  return items;
}

void append(std::vector<LegendItem>& items, std::string text, std::vector<LegendItem> more) {
  items.push_back({LegendItem::Mark::new_row, {}, std::move(text)});
  items.insert(items.end(), more.begin(), more.end());
}

std::string describe_curves(const Comparison& comparison) {
  std::string text = fmt::format("Line chart of {} by epoch.", primary(comparison).name);
  for (std::size_t i = 0; i < comparison.groups.size() && i < 8; ++i) {
    const auto& curve = comparison.groups[i].metrics[comparison.primary].curve;
    if (!curve.empty())
      text += fmt::format(" {}: mean {} at epoch {}, {} at epoch {}.", comparison.groups[i].name,
                          format_number(curve.front().mean), curve.front().epoch, format_number(curve.back().mean),
                          curve.back().epoch);
  }
  return text;
}

// The range of everything in a mean; where there is nothing yet, of everything reported.
Range curves_range(const Comparison& comparison) {
  Range range;
  for (const Group& group : comparison.groups)
    for (const CurvePoint& point : group.metrics[comparison.primary].curve) {
      range.include(point.min);
      range.include(point.max);
    }
  if (!range.empty()) return range;
  for (const Run& run : comparison.experiment.runs)
    if (const Series* series = find_series(run, primary(comparison)))
      for (const Point& point : series->points) range.include(point.value);
  return range;
}

void draw_single_runs(Drawing& drawing, const Comparison& comparison, const Legend& legend, const Scale& x,
                      const Scale& y, const Frame& frame) {
  const auto& runs = comparison.experiment.runs;
  const auto shown = spread(runs.size(), kMostLines);
  for (const std::size_t run : shown)
    if (const Series* series = find_series(runs[run], primary(comparison)))
      drawing.polyline(places_of(series->points, x, y, frame),
                       (runs[run].state == State::finished ? "thin " : "faint ") + legend.run_class(run),
                       fmt::format("{} ({})", run_tip(comparison, run), to_string(runs[run].state)));
}

std::optional<Figure> draw_curves(const Comparison& comparison, const Legend& legend) {
  if (!comparison.has_metrics()) return std::nullopt;
  const Range range = curves_range(comparison);
  if (range.empty()) return std::nullopt;
  const Metric& metric = primary(comparison);
  Figure figure{"curves", metric.name + " by epoch", describe_curves(comparison), {}, Drawing(kFigureWidth, 0)};
  Drawing& drawing = figure.drawing;
  const auto& runs = comparison.experiment.runs;
  const bool ticked = std::any_of(runs.begin(), runs.end(), [](const Run& run) { return !site_changes(run).empty(); });
  std::vector<LegendItem> items = group_items(comparison, legend);
  if (ticked) append(items, "a run comes to:", site_items(comparison, legend, LegendItem::Mark::tick));
  const double top = draw_legend(drawing, {kLeft, 0}, kFigureWidth - kLeft - kRight, items) + 10;
  const Frame frame{{kLeft, top}, kFigureWidth - kLeft - kRight, 340};
  const Scale x = epoch_scale(comparison, frame);
  const Scale y = value_scale(range, metric.goal == Goal::lowest, frame);
  draw_y_axis(drawing, frame, y, metric.name + (y.is_logarithmic() ? " (logarithmic)" : ""));
  draw_x_axis(drawing, frame, x, "epoch", false, 8);

  const auto drawn = [&](std::size_t group) { return legend.group_class(group) != "gx"; };
  for (std::size_t i = 0; i < comparison.groups.size(); ++i)
    if (drawn(i) && comparison.groups[i].metrics[comparison.primary].last.n > 1)
      draw_band(drawing, comparison.groups[i].metrics[comparison.primary].curve, x, y, legend.group_class(i));
  draw_single_runs(drawing, comparison, legend, x, y, frame);
  for (std::size_t i = comparison.groups.size(); i-- > 0;) {
    const Group& group = comparison.groups[i];
    if (drawn(i))
      draw_mean(drawing, group.metrics[comparison.primary].curve, x, y, legend.group_class(i),
                "mean of " + counted_group(group, group.metrics[comparison.primary].last.n));
  }
  if (ticked)
    for (const std::size_t run : spread(comparison.experiment.runs.size(), kMostLines))
      if (const Series* series = find_series(comparison.experiment.runs[run], metric))
        draw_site_ticks(drawing, comparison, legend, run, series->points, x, y);
  figure.caption = "Thick: mean of a group's finished runs. Band: their lowest to highest. Thin: single runs.";
  if (ticked) figure.caption += " A stroke marks where a run came to another site.";
  if (comparison.experiment.runs.size() > kMostLines)
    figure.caption += fmt::format(" {} of {} runs are drawn.", kMostLines, comparison.experiment.runs.size());
  drawing.set_height(frame.bottom() + 46);
  return figure;
}

std::string describe_difference(const PairedMetric& paired, const std::string& metric) {
  const CurvePoint& last = paired.curve.back();
  return fmt::format(
      "Line chart of {} of the migrated run minus its seed-paired baseline by epoch, {} pairs. At epoch "
      "{} the mean is {}, the range {} to {}.",
      metric, paired.pairs.size(), last.epoch, format_signed(last.mean), format_signed(last.min),
      format_signed(last.max));
}

// Early epochs differ by more than the later ones, which matter: the axis holds the middle 95 % of all values and
// every value of the last epoch.
Range difference_range(const PairedMetric& paired) {
  std::vector<double> values;
  for (const Pair& pair : paired.pairs)
    for (const Point& point : pair.by_epoch) values.push_back(point.value);
  std::sort(values.begin(), values.end());
  Range range;
  range.include(0);
  range.include(quantile_of_sorted(values, 0.025));
  range.include(quantile_of_sorted(values, 0.975));
  range.include(paired.curve.back().min);
  range.include(paired.curve.back().max);
  return range.widened(0.08);
}

std::optional<Figure> draw_difference(const Comparison& comparison, const Legend& legend) {
  if (!comparison.has_metrics() || !comparison.has_baseline) return std::nullopt;
  const PairedMetric& paired = comparison.paired[comparison.primary];
  if (paired.curve.size() < 2) return std::nullopt;
  const std::string& metric = primary(comparison).name;
  Figure figure{"difference",
                fmt::format("Paired difference of {} by epoch", metric),
                describe_difference(paired, metric),
                {},
                Drawing(kFigureWidth, 0)};
  Drawing& drawing = figure.drawing;
  std::vector<LegendItem> items = {
      {LegendItem::Mark::line, "g0", fmt::format("mean of {} pairs", paired.pairs.size())}};
  append(items, "its migrated run comes to:", site_items(comparison, legend, LegendItem::Mark::tick));
  const double top = draw_legend(drawing, {kLeft, 0}, kFigureWidth - kLeft - kRight, items) + 10;
  const Frame frame{{kLeft, top}, kFigureWidth - kLeft - kRight, 250};
  const Scale x = epoch_scale(comparison, frame);
  const Range range = difference_range(paired);
  const Scale y = Scale::linear(range.low, range.high, frame.bottom(), frame.corner.y);
  draw_y_axis(drawing, frame, y, "migrated − baseline", 5);
  draw_x_axis(drawing, frame, x, "epoch", false, 8);
  drawing.line({frame.corner.x, y(0)}, {frame.right(), y(0)}, "zero");
  const auto shown = spread(paired.pairs.size(), kMostLines);
  for (const std::size_t i : shown)
    drawing.polyline(places_of(paired.pairs[i].by_epoch, x, y, frame), "thin g0", paired.pairs[i].label);
  std::vector<Point> mean;
  for (const CurvePoint& point : paired.curve) mean.push_back({point.epoch, point.mean});
  drawing.polyline(places_of(mean, x, y, frame), "line g0", "mean of the pairs");
  for (const std::size_t i : shown)
    if (paired.pairs[i].migrated.size() == 1)
      draw_site_ticks(drawing, comparison, legend, paired.pairs[i].migrated[0], paired.pairs[i].by_epoch, x, y);
  figure.caption =
      "Thin: one pair, the migrated run minus the baseline run of the same values and seed. A stroke marks where the "
      "migrated run came to another site: a jump there points at the site.";
  drawing.set_height(frame.bottom() + 46);
  return figure;
}

// --- what ran where -----------------------------------------------------------------------------------------------

// Pairs side by side, migrated before baseline; runs without a pair after them, all by their first number.
std::vector<std::size_t> path_order(const Comparison& comparison) {
  const auto& runs = comparison.experiment.runs;
  std::vector<std::size_t> order;
  std::unordered_map<std::string, std::vector<std::size_t>> pairs;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].pair.empty()) pairs[runs[i].pair].push_back(i);
  std::vector<bool> placed(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (placed[i]) continue;
    const std::vector<std::size_t> alone = {i};
    for (const std::size_t member : runs[i].pair.empty() ? alone : pairs[runs[i].pair]) {
      order.push_back(member);
      placed[member] = true;
    }
  }
  return order;
}

std::string job_tip(const Job& job) {
  std::string tip = fmt::format("{}: {}, epochs {} to {}, {}", job.node, job.site, job.first_epoch, job.last_epoch,
                                to_string(job.state));
  if (job.attempts > 1) tip += fmt::format(", {} attempts", job.attempts);
  if (job.wall_s > 0) tip += ", " + format_duration(job.wall_s);
  return tip;
}

void draw_job(Drawing& drawing, const Legend& legend, const Job& job, const Scale& x, double y, double height) {
  const double left = x(job.first_epoch - 0.5) + 1;
  const double width = x(job.last_epoch + 0.5) - 1 - left;
  const bool done = job.state == State::finished;
  const char* look = done ? "block " : job.state == State::running ? "block soft " : "open ";
  drawing.rectangle({left, y}, width, height, look + legend.site_class(job.site), job_tip(job));
  std::string text = job.site;
  const std::string again = job.attempts > 1 ? fmt::format(" ↻{}", job.attempts - 1) : "";
  if (text_width(text + again, 12) > width - 4) text = legend.short_site(job.site);
  if (text_width(text + again, 12) > width - 2) text.clear();
  if (job.state == State::failed) text = "✗ " + text;
  if (height >= 14)
    drawing.text({left + width / 2, y + height / 2 + 4}, text + again,
                 "small " + (done ? legend.site_text_class(job.site) : std::string()), Anchor::middle);
}

std::string last_value_text(const Comparison& comparison, std::size_t run) {
  if (comparison.experiment.runs[run].state != State::finished)
    return std::string(to_string(comparison.experiment.runs[run].state));
  if (!comparison.has_metrics()) return {};
  const auto& last = comparison.run_metrics[run][comparison.primary].last;
  return last ? format_number(last->value) : "—";
}

Figure draw_paths(const Comparison& comparison, const Legend& legend) {
  const auto& runs = comparison.experiment.runs;
  auto order = path_order(comparison);
  const std::size_t all = order.size();
  if (order.size() > kMostPathRows) order.resize(kMostPathRows);
  Figure figure{"paths", "What ran where", {}, {}, Drawing(kFigureWidth, 0)};
  Drawing& drawing = figure.drawing;
  double y = draw_legend(drawing, {kLeft, 0}, kFigureWidth - kLeft - kRight,
                         site_items(comparison, legend, LegendItem::Mark::block)) +
             6;
  constexpr double kValues = 70;
  Frame frame{{kLeft, y}, kFigureWidth - kLeft - kRight - kValues, 0};
  if (comparison.has_metrics())
    drawing.text({kFigureWidth - kRight, y + 12}, "last " + shorten(primary(comparison).name, 16), "small muted",
                 Anchor::end);
  y += 20;
  const Scale x = epoch_scale(comparison, frame);
  const double row = order.size() > 16 ? 15 : 20;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Run& run = runs[order[i]];
    const bool same_pair = i > 0 && !run.pair.empty() && runs[order[i - 1]].pair == run.pair;
    if (i > 0) y += same_pair ? 2 : (comparison.has_baseline ? 8 : 3);
    drawing.circle({10, y + row / 2}, 4.5, "dot " + legend.run_class(order[i]), run_tip(comparison, order[i]));
    drawing.text({20, y + row / 2 + 4}, fmt::format("run {}", run.number), "small");
    for (const Job& job : run.jobs) draw_job(drawing, legend, job, x, y, row);
    drawing.text({kFigureWidth - kRight, y + row / 2 + 4}, last_value_text(comparison, order[i]), "small", Anchor::end);
    y += row;
  }
  frame.height = y + 6 - frame.corner.y;
  draw_x_axis(drawing, frame, x, "epoch", false, 8);
  figure.description =
      fmt::format("A row of blocks for each of {} runs: which site trained which epochs.", order.size());
  for (std::size_t i = 0; i < order.size() && i < 12; ++i) {
    std::vector<std::string> path;
    for (const Job& job : runs[order[i]].jobs) path.push_back(job.site);
    figure.description += fmt::format(" Run {}: {}.", runs[order[i]].number, join(path, ", "));
  }
  figure.caption = comparison.has_baseline ? "A block is one training job. Blue: migrated run; grey: its baseline."
                                           : "A block is one training job.";
  if (std::any_of(runs.begin(), runs.end(), [](const Run& run) { return attempts_of(run) > run.jobs.size(); }))
    figure.caption += " ↻1: one more attempt was needed.";
  if (order.size() < all) figure.caption += fmt::format(" The first {} of {} runs.", order.size(), all);
  drawing.set_height(frame.bottom() + 46);
  return figure;
}

// --- paired differences -------------------------------------------------------------------------------------------

double jitter(std::size_t i) {  // in [-0.5, 0.5): the golden ratio's multiples spread evenly at every length
  const double turns = static_cast<double>(i) * 0.6180339887498949;
  return turns - std::floor(turns) - 0.5;
}

std::string describe_pairs(const PairedMetric& paired, const std::string& metric) {
  std::string text = fmt::format("Dot plot of the last {} of the migrated run minus its baseline's: {} pairs, mean {}",
                                 metric, paired.pairs.size(), format_signed(paired.differences.mean));
  if (paired.interval)
    text += fmt::format(", 95 % confidence interval {} to {}", format_signed(paired.interval->low),
                        format_signed(paired.interval->high));
  return text + ".";
}

void draw_pair_mean(Drawing& drawing, const PairedMetric& paired, const Scale& x, double y) {
  const std::string tip = describe_pairs(paired, "value");
  if (paired.interval) {
    const double low = x(paired.interval->low);
    const double high = x(paired.interval->high);
    drawing.line({low, y}, {high, y}, "line g0", tip);
    for (const double end : {low, high}) drawing.line({end, y - 5}, {end, y + 5}, "line g0");
  }
  drawing.diamond({x(paired.differences.mean), y}, 7, "dot g0", tip);
}

Scale pair_scale(const PairedMetric& paired, const Frame& frame) {
  Range range;
  range.include(0);
  range.include(paired.differences.min);
  range.include(paired.differences.max);
  if (paired.interval) {
    range.include(paired.interval->low);
    range.include(paired.interval->high);
  }
  const Range wide = range.widened(0.06);
  return Scale::linear(wide.low, wide.high, frame.corner.x, frame.right());
}

std::optional<Figure> draw_pairs(const Comparison& comparison) {
  if (!comparison.has_metrics() || !comparison.has_baseline) return std::nullopt;
  const PairedMetric& paired = comparison.paired[comparison.primary];
  if (paired.pairs.empty()) return std::nullopt;
  const Metric& metric = primary(comparison);
  Figure figure{"pairs",
                fmt::format("Paired difference of the last {}", metric.name),
                describe_pairs(paired, metric.name),
                {},
                Drawing(kFigureWidth, 0)};
  Drawing& drawing = figure.drawing;
  const bool rows = paired.pairs.size() <= kMostPairRows;
  double widest = text_width("mean, 95 % interval", 12);
  if (rows)
    for (const Pair& pair : paired.pairs) widest = std::max(widest, text_width(shorten(pair.label, 28), 12));
  const double row = 20;
  const double body = rows ? row * static_cast<double>(paired.pairs.size()) : 120;
  Frame frame{{widest + 18, 22}, kFigureWidth - widest - 18 - kRight, body + 40};
  const Scale x = pair_scale(paired, frame);
  const bool low_is_better = metric.goal == Goal::lowest;
  drawing.text({frame.corner.x, 12}, low_is_better ? "← migrated is better" : "← migrated is worse", "small muted");
  drawing.text({frame.right(), 12}, low_is_better ? "migrated is worse →" : "migrated is better →", "small muted",
               Anchor::end);
  draw_x_axis(drawing, frame, x, fmt::format("last {}, migrated − baseline", metric.name), true, 6);
  drawing.line({x(0), frame.corner.y}, {x(0), frame.bottom()}, "zero");
  for (const std::size_t i : spread(paired.pairs.size(), kMostDots)) {
    const Pair& pair = paired.pairs[i];
    const double y = rows ? frame.corner.y + row * (static_cast<double>(i) + 0.5) + 4
                          : frame.corner.y + body / 2 + jitter(i) * (body - 20);
    if (rows) drawing.text({frame.corner.x - 10, y + 4}, shorten(pair.label, 28), "small", Anchor::end);
    drawing.circle({x(pair.difference), y}, 4.5, rows ? "dot g0" : "dot soft g0",
                   fmt::format("{}: {} − {} = {}", pair.label, format_number(pair.migrated_value),
                               format_number(pair.baseline_value), format_signed(pair.difference)));
  }
  const double y = frame.bottom() - 16;
  drawing.text({frame.corner.x - 10, y + 4}, paired.interval ? "mean, 95 % interval" : "mean", "small strong",
               Anchor::end);
  draw_pair_mean(drawing, paired, x, y);
  figure.caption =
      "A dot is one pair of the same values and seed. The diamond is their mean, its bar the 95 % confidence interval "
      "by Student's t.";
  drawing.set_height(frame.bottom() + 46);
  return figure;
}

// --- epoch times --------------------------------------------------------------------------------------------------

struct TimeUnit {
  double seconds;
  const char* name;
};

TimeUnit unit_for(double most_seconds) {
  if (most_seconds >= 3 * 3600) return {3600, "hours"};
  if (most_seconds >= 180) return {60, "minutes"};
  return {1, "seconds"};
}

void draw_site_times(Drawing& drawing, const SiteTime& site, const Scale& x, const TimeUnit& unit, double y,
                     const std::string& css) {
  const auto at = [&](double seconds) { return x(seconds / unit.seconds); };
  for (const std::size_t i : spread(site.seconds.size(), kMostDots / 2))
    drawing.circle({at(site.seconds[i]), y + jitter(i) * 18}, 2.5, "dot soft " + css);
  const Summary& s = site.summary;
  const std::string tip =
      fmt::format("{}: median {}, quartiles {} and {}, {} to {}, {} epochs", site.site, format_duration(s.median),
                  format_duration(s.lower_quartile), format_duration(s.upper_quartile), format_duration(s.min),
                  format_duration(s.max), s.n);
  drawing.rectangle({at(s.lower_quartile), y - 10}, std::max(1.0, at(s.upper_quartile) - at(s.lower_quartile)), 20,
                    "ring ink", tip);
  drawing.line({at(s.median), y - 10}, {at(s.median), y + 10}, "tick ink", tip);
}

std::optional<Figure> draw_times(const Comparison& comparison, const Legend& legend) {
  constexpr std::size_t kMostSites = 16;
  if (comparison.site_times.empty()) return std::nullopt;
  const std::size_t count = std::min(comparison.site_times.size(), kMostSites);
  Figure figure{"times",
                "Time per epoch by site",
                "Box plots of the seconds that one epoch took at each site.",
                {},
                Drawing(kFigureWidth, 0)};
  double most = 0;
  double widest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const SiteTime& site = comparison.site_times[i];
    most = std::max(most, site.summary.max);
    widest = std::max(widest, text_width(shorten(site.site, 18), 12));
    figure.description +=
        fmt::format(" {}: median {} over {} epochs.", site.site, format_duration(site.summary.median), site.summary.n);
  }
  const double row = 34;
  const double notes = text_width("888 min 88 s, n = 8888", 12);
  const Frame frame{
      {widest + 22, 4}, kFigureWidth - widest - 22 - kRight - notes, row * static_cast<double>(count) + 4};
  const TimeUnit unit = unit_for(most);
  const Scale x = Scale::linear(0, most / unit.seconds * 1.03, frame.corner.x, frame.right());
  draw_x_axis(figure.drawing, frame, x, fmt::format("time per epoch ({})", unit.name), true, 5);
  for (std::size_t i = 0; i < count; ++i) {
    const SiteTime& site = comparison.site_times[i];
    const double y = frame.corner.y + row * (static_cast<double>(i) + 0.5) + 2;
    figure.drawing.text({frame.corner.x - 10, y + 4}, shorten(site.site, 18), "small", Anchor::end);
    draw_site_times(figure.drawing, site, x, unit, y, legend.site_class(site.site));
    figure.drawing.text({kFigureWidth - kRight, y + 4},
                        fmt::format("{}, n = {}", format_duration(site.summary.median), site.summary.n), "small muted",
                        Anchor::end);
  }
  figure.caption = "A dot is one epoch; the box holds the middle half, the stroke is the median, given at the right.";
  if (!epoch_times_reported(comparison))
    figure.caption += " Jobs told no times: these are between their lines, a job's first epoch from its start.";
  if (count < comparison.site_times.size())
    figure.caption += fmt::format(" The first {} of {} sites.", count, comparison.site_times.size());
  figure.drawing.set_height(frame.bottom() + 46);
  return figure;
}

}  // namespace

std::vector<Figure> draw_figures(const Comparison& comparison) {
  std::vector<Figure> figures;
  if (comparison.experiment.runs.empty()) return figures;
  const Legend legend(comparison);
  const auto keep = [&](std::optional<Figure> figure) {
    if (figure) figures.push_back(std::move(*figure));
  };
  keep(draw_curves(comparison, legend));
  figures.push_back(draw_paths(comparison, legend));
  keep(draw_difference(comparison, legend));
  keep(draw_pairs(comparison));
  keep(draw_times(comparison, legend));
  return figures;
}

std::string figures_svg(const Comparison& comparison) {
  constexpr double kMargin = 24;
  constexpr double kHeading = 34;
  double bottom[2] = {kMargin + 36, kMargin + 36};
  Drawing picture(2 * kFigureWidth + 3 * kMargin, 0);
  picture.text({kMargin, kMargin + 14},
               fmt::format("{}: {} of {} runs finished", comparison.experiment.name, comparison.finished(),
                           comparison.experiment.runs.size()),
               "heading");
  char letter = 'a';
  std::string description;
  for (const Figure& figure : draw_figures(comparison)) {
    // The first four read as rows; a fifth goes where there is room.
    const std::size_t place = static_cast<std::size_t>(letter - 'a');
    const std::size_t column = place < 4 ? place % 2 : bottom[1] < bottom[0] ? 1 : 0;
    const double left = kMargin + static_cast<double>(column) * (kFigureWidth + kMargin);
    picture.text({left, bottom[column] + 14}, fmt::format("{}  {}", letter++, figure.title), "heading");
    picture.place(figure.drawing, {left, bottom[column] + kHeading});
    bottom[column] += kHeading + figure.drawing.height() + 16;
    description += figure.description + " ";
  }
  picture.set_height(std::max(bottom[0], bottom[1]) + 4);
  return picture.svg("godwit", "Comparison of " + comparison.experiment.name, description, chart_style());
}

}  // namespace godwit::report
