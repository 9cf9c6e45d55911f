#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/units.h"
#include "godwit/report/figure_parts.h"
#include "godwit/report/format.h"

namespace godwit::report {
namespace {

constexpr std::size_t kMostRows = 24;  // pairs with a row each; more become a strip
constexpr double kRow = 20;
constexpr double kStrip = 120;
constexpr std::size_t kLabelColumns = 36;  // holds a value and a seed of ten digits

std::string describe_pairs(const PairedMetric& paired, const std::string& metric) {
  std::string text =
      fmt::format("Dot plot of the last {} of the migrated run minus its baseline's: {}, mean {}", metric,
                  format_count(paired.pairs.size(), "pair"), format_signed(paired.differences.mean));
  if (paired.interval)
    text += fmt::format(", 95 % confidence interval {} to {}", format_signed(paired.interval->low),
                        format_signed(paired.interval->high));
  return text + ".";
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

class PairChart {
 public:
  PairChart(Drawing& drawing, const PairedMetric& paired)
      : drawing_(drawing),
        paired_(paired),
        rows_(paired.pairs.size() <= kMostRows),
        body_(rows_ ? kRow * static_cast<double>(paired.pairs.size()) : kStrip),
        frame_(frame_beside(labels_width())),
        x_(pair_scale(paired, frame_)) {
    drawing.set_height(frame_.bottom() + kBelow);
  }

  void axis(const Metric& metric) {
    const bool low_is_better = metric.goal == Goal::lowest;
    drawing_.text({frame_.corner.x, 12}, low_is_better ? "← migrated is better" : "← migrated is worse", "small muted");
    drawing_.text({frame_.right(), 12}, low_is_better ? "migrated is worse →" : "migrated is better →", "small muted",
                  Anchor::end);
    draw_x_axis(drawing_, frame_, x_, fmt::format("last {}, migrated − baseline", metric.name), true, 6);
    drawing_.line({x_(0), frame_.corner.y}, {x_(0), frame_.bottom()}, "zero");
  }

  void pairs() {
    for (const std::size_t i : spread(paired_.pairs.size(), kMostDots)) {
      const Pair& pair = paired_.pairs[i];
      const double y =
          frame_.corner.y + (rows_ ? kRow * (static_cast<double>(i) + 0.5) + 4 : body_ / 2 + jitter(i) * (body_ - 20));
      if (rows_) label(y, shorten(pair.label, kLabelColumns), "small");
      drawing_.circle({x_(pair.difference), y}, 4.5, rows_ ? "dot g0" : "dot soft g0",
                      fmt::format("{}: {} − {} = {}", pair.label, format_number(pair.migrated_value),
                                  format_number(pair.baseline_value), format_signed(pair.difference)));
    }
  }

  void mean(const std::string& tip) {
    const double y = frame_.bottom() - 16;
    label(y, paired_.interval ? "mean, 95 % interval" : "mean", "small strong");
    if (paired_.interval) {
      const double low = x_(paired_.interval->low);
      const double high = x_(paired_.interval->high);
      drawing_.line({low, y}, {high, y}, "line g0", tip);
      for (const double end : {low, high}) drawing_.line({end, y - 5}, {end, y + 5}, "line g0");
    }
    drawing_.diamond({x_(paired_.differences.mean), y}, 7, "dot g0", tip);
  }

 private:
  double labels_width() const {
    double widest = text_width("mean, 95 % interval", 12);
    if (rows_)
      for (const Pair& pair : paired_.pairs)
        widest = std::max(widest, text_width(shorten(pair.label, kLabelColumns), 12));
    return widest + 18;
  }

  Frame frame_beside(double labels) const { return {{labels, 22}, kFigureWidth - labels - kRight, body_ + 40}; }

  void label(double y, const std::string& text, const char* css) {
    drawing_.text({frame_.corner.x - 10, y + 4}, text, css, Anchor::end);
  }

  Drawing& drawing_;
  const PairedMetric& paired_;
  bool rows_;
  double body_;
  Frame frame_;
  Scale x_;
};

}  // namespace

std::optional<Figure> draw_pairs(const Comparison& comparison) {
  if (!comparison.has_metrics() || !comparison.has_baseline) return std::nullopt;
  const PairedMetric& paired = comparison.paired[comparison.primary];
  if (paired.pairs.empty()) return std::nullopt;
  const Metric& metric = primary(comparison);
  Figure figure{"pairs", fmt::format("Paired difference of the last {}", metric.name),
                describe_pairs(paired, metric.name),
                "A dot is one pair of the same values and seed. The diamond is their mean, its bar the 95 % confidence "
                "interval by Student's t.",
                Drawing(kFigureWidth, 0)};
  PairChart chart(figure.drawing, paired);
  chart.axis(metric);
  chart.pairs();
  chart.mean(figure.description);
  return figure;
}

}  // namespace godwit::report
