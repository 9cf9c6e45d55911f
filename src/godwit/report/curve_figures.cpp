#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "godwit/base/units.h"
#include "godwit/report/figure_parts.h"
#include "godwit/report/format.h"

namespace godwit::report {
namespace {

constexpr std::size_t kMostLines = 30;   // single runs drawn in one chart
constexpr std::size_t kMostTicked = 16;  // of more lines, the strokes at changes of site would hide each other

Scale value_scale(const Range& range, bool may_be_logarithmic, const Frame& frame) {
  constexpr double kRatio = 6;  // from here on a straight axis hides how training ends
  if (may_be_logarithmic && range.low > 0 && range.high / range.low > kRatio)
    return Scale::logarithmic(range.low / 1.06, range.high * 1.06, frame.bottom(), frame.corner.y);
  const Range wide = range.widened(0.04);
  return Scale::linear(wide.low, wide.high, frame.bottom(), frame.corner.y);
}

// A drawing with epochs to the right and values upwards.
class LineChart {
 public:
  LineChart(Drawing& drawing, const Comparison& comparison, const std::vector<LegendItem>& items, double height)
      : drawing_(drawing),
        comparison_(comparison),
        frame_{{kLeft, draw_legend(drawing, {kLeft, 0}, kFigureWidth - kLeft - kRight, items) + 10},
               kFigureWidth - kLeft - kRight,
               height},
        x_(epoch_scale(comparison, frame_)),
        y_(Scale::linear(0, 1, 0, 1)) {
    drawing.set_height(frame_.bottom() + kBelow);
  }

  const Frame& frame() const { return frame_; }

  void axes(const Scale& y, const std::string& label) {
    y_ = y;
    draw_y_axis(drawing_, frame_, y_, label);
    draw_x_axis(drawing_, frame_, x_, "epoch", false, 8);
  }

  void zero() { drawing_.line({frame_.corner.x, y_(0)}, {frame_.right(), y_(0)}, "zero"); }

  // Cut where it leaves the frame.
  void line(const std::vector<Point>& points, const std::string& css, const std::string& tip) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Place at = {x_(points[i].epoch), y_(points[i].value)};
      if (i > 0) {
        const Place before = {x_(points[i - 1].epoch), y_(points[i - 1].value)};
        if (inside(before) != inside(at)) places.push_back(edge_between(before, at));
      }
      places.push_back(inside(at) ? at : Place{at.x, std::numeric_limits<double>::quiet_NaN()});
    }
    drawing_.polyline(places, css, tip);
  }

  void mean(const std::vector<CurvePoint>& curve, const std::string& css, const std::string& tip) {
    std::vector<Point> points;
    points.reserve(curve.size());
    for (const CurvePoint& point : curve) points.push_back({point.epoch, point.mean});
    line(points, "line " + css, tip);
  }

  void band(const std::vector<CurvePoint>& curve, const std::string& css) {
    const auto held = [&](double value) { return std::clamp(y_(value), frame_.corner.y, frame_.bottom()); };
    std::vector<Place> upper, lower;
    for (const CurvePoint& point : curve) {
      upper.push_back({x_(point.epoch), held(point.max)});
      lower.push_back({x_(point.epoch), held(point.min)});
    }
    drawing_.band(upper, lower, "band " + css);
  }

  // Where the mean is, with a probability of 95 %; epochs of one run have none.
  void interval_band(const std::vector<CurvePoint>& curve, const std::string& css) {
    std::vector<CurvePoint> ends;
    for (CurvePoint point : curve)
      if (const auto interval = point.interval()) {
        point.min = interval->low;
        point.max = interval->high;
        ends.push_back(point);
      }
    band(ends, css);
  }

  // A stroke across the line at each of the run's changes of site, in the colour of the site it came to.
  void site_ticks(const Legend& legend, std::size_t run, const std::vector<Point>& points) {
    for (const SiteChange& change : site_changes(comparison_.experiment.runs[run])) {
      const Place at = {x_(change.epoch), y_(value_at(points, change.epoch))};
      if (!inside(at)) continue;
      drawing_.line({at.x, at.y - 5}, {at.x, at.y + 5}, "tick " + legend.site_class(change.to),
                    fmt::format("{}: {} → {} after epoch {}", run_tip(comparison_, run), change.from, change.to,
                                static_cast<int>(change.epoch)));
    }
  }

 private:
  bool inside(Place place) const { return place.y >= frame_.corner.y - 0.5 && place.y <= frame_.bottom() + 0.5; }

  // Where the way from one place to another crosses the frame's upper or lower edge; not finite where an end is not.
  Place edge_between(Place a, Place b) const {
    const double edge = std::min(a.y, b.y) < frame_.corner.y ? frame_.corner.y : frame_.bottom();
    return {a.x + (b.x - a.x) * (edge - a.y) / (b.y - a.y), edge};
  }

  Drawing& drawing_;
  const Comparison& comparison_;
  Frame frame_;
  Scale x_, y_;
};

std::vector<std::size_t> migrating_runs(const Comparison& comparison) {
  std::vector<std::size_t> found;
  for (std::size_t run = 0; run < comparison.experiment.runs.size(); ++run)
    if (!site_changes(comparison.experiment.runs[run]).empty()) found.push_back(run);
  return found;
}

std::string counted_group(const Group& group, std::size_t n) {
  return fmt::format("{} ({})", group.name, format_count(n, "run"));
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

void draw_single_runs(LineChart& chart, const Comparison& comparison, const Legend& legend) {
  const auto& runs = comparison.experiment.runs;
  for (const std::size_t run : spread(runs.size(), kMostLines))
    if (const Series* series = find_series(runs[run], primary(comparison)))
      chart.line(series->points, (runs[run].counts() ? "thin " : "faint ") + legend.run_class(run),
                 fmt::format("{} ({})", run_tip(comparison, run), to_string(runs[run].state)));
}

// Bands lie below the single runs, means above; the first group's above the others'.
void draw_groups(LineChart& chart, const Comparison& comparison, const Legend& legend) {
  const auto metric_of = [&](std::size_t i) -> const GroupMetric& {
    return comparison.groups[i].metrics[comparison.primary];
  };
  const auto drawn = [&](std::size_t i) { return legend.group_class(i) != "gx"; };
  for (std::size_t i = 0; i < comparison.groups.size(); ++i)
    if (drawn(i) && metric_of(i).last.n > 1) chart.band(metric_of(i).curve, legend.group_class(i));
  draw_single_runs(chart, comparison, legend);
  for (std::size_t i = comparison.groups.size(); i-- > 0;)
    if (drawn(i))
      chart.mean(metric_of(i).curve, legend.group_class(i),
                 "mean of " + counted_group(comparison.groups[i], metric_of(i).last.n));
}

constexpr std::size_t kMostBands = 4;  // more dashed lines than that hide each other

bool draws_bands(const Comparison& comparison) {
  return comparison.moves && comparison.moves->bands && comparison.moves->bands->cells.size() <= kMostBands;
}

// Where one more baseline run would lie.
void draw_bands(LineChart& chart, const Comparison& comparison) {
  for (const CellBand& cell : comparison.moves->bands->cells) {
    std::vector<Point> low, high;
    for (const BandPoint& point : cell.points) {
      low.push_back({point.epoch, point.low});
      high.push_back({point.epoch, point.high});
    }
    const std::string tip = "95 % band of baseline runs" + (cell.values.empty() ? "" : ", " + cell.values);
    for (const auto& edge : {low, high}) chart.line(edge, "zero", tip);
  }
}

std::string curves_caption(const Comparison& comparison, const Legend& legend, bool ticked) {
  std::string caption = "Thick: mean of a group's finished runs. Band: their lowest to highest. Thin: single runs.";
  if (legend.has_uncoloured_groups()) caption += " The best groups have colours.";
  if (draws_bands(comparison)) caption += " Dashed: where one more baseline run lies with a probability of 95 %.";
  if (ticked) caption += " A stroke marks where a run came to another site.";
  if (comparison.experiment.runs.size() > kMostLines)
    caption += fmt::format(" {} of {} runs are drawn.", kMostLines, comparison.experiment.runs.size());
  return caption;
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

std::string difference_caption(std::size_t pairs) {
  std::string caption =
      "Thin: one pair, the migrated run minus the baseline run of the same values and seed. Band: the 95 % interval of "
      "their mean, epoch by epoch.";
  if (pairs <= kMostTicked)
    caption += " A stroke marks where the migrated run came to another site: a jump there points at the site.";
  if (pairs > kMostLines) caption += fmt::format(" {} of {} pairs are drawn.", kMostLines, pairs);
  return caption;
}

void draw_pair_lines(LineChart& chart, const PairedMetric& paired, const Legend& legend) {
  chart.zero();
  if (paired.pairs.size() > 1) chart.interval_band(paired.curve, "g0");
  for (const std::size_t i : spread(paired.pairs.size(), kMostLines))
    chart.line(paired.pairs[i].by_epoch, "thin g0", paired.pairs[i].label);
  chart.mean(paired.curve, "g0", "mean of the pairs");
  if (paired.pairs.size() > kMostTicked) return;
  for (const Pair& pair : paired.pairs)
    if (pair.migrated.size() == 1) chart.site_ticks(legend, pair.migrated[0], pair.by_epoch);
}

}  // namespace

std::optional<Figure> draw_curves(const Comparison& comparison, const Legend& legend) {
  if (!comparison.has_metrics()) return std::nullopt;
  const Range range = curves_range(comparison);
  if (range.empty()) return std::nullopt;
  const Metric& metric = primary(comparison);
  const auto migrating = migrating_runs(comparison);
  const bool ticked = !migrating.empty() && migrating.size() <= kMostTicked;
  std::vector<LegendItem> items = group_items(comparison, legend);
  if (ticked) append(items, "a run comes to:", site_items(comparison, legend, LegendItem::Mark::tick));

  Figure figure{"curves", metric.name + " by epoch", describe_curves(comparison),
                curves_caption(comparison, legend, ticked), Drawing(kFigureWidth, 0)};
  LineChart chart(figure.drawing, comparison, items, 340);
  const Scale y = value_scale(range, metric.goal == Goal::lowest, chart.frame());
  chart.axes(y, metric.name + (y.is_logarithmic() ? " (logarithmic)" : ""));
  draw_groups(chart, comparison, legend);
  if (draws_bands(comparison)) draw_bands(chart, comparison);
  if (ticked)
    for (const std::size_t run : migrating)
      if (const Series* series = find_series(comparison.experiment.runs[run], metric))
        chart.site_ticks(legend, run, series->points);
  return figure;
}

std::optional<Figure> draw_difference(const Comparison& comparison, const Legend& legend) {
  if (!comparison.has_metrics() || !comparison.has_baseline) return std::nullopt;
  const PairedMetric& paired = comparison.paired[comparison.primary];
  if (paired.curve.size() < 2) return std::nullopt;
  const std::string& metric = primary(comparison).name;
  std::vector<LegendItem> items = {
      {LegendItem::Mark::line, "g0", "mean of " + format_count(paired.pairs.size(), "pair")}};
  if (paired.pairs.size() <= kMostTicked)
    append(items, "its migrated run comes to:", site_items(comparison, legend, LegendItem::Mark::tick));

  Figure figure{"difference", fmt::format("Paired difference of {} by epoch", metric),
                describe_difference(paired, metric), difference_caption(paired.pairs.size()), Drawing(kFigureWidth, 0)};
  LineChart chart(figure.drawing, comparison, items, 250);
  const Range range = difference_range(paired);
  chart.axes(Scale::linear(range.low, range.high, chart.frame().bottom(), chart.frame().corner.y),
             "migrated − baseline");
  draw_pair_lines(chart, paired, legend);
  return figure;
}

}  // namespace godwit::report
