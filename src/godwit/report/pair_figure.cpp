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

// The test of the pairs against the margin, where this metric's was declared.
const Equivalence* test_of(const Comparison& comparison) {
  const auto& judgement = comparison.judgement;
  const bool this_one = judgement && judgement->verdict.metric == comparison.primary && judgement->verdict.test;
  return this_one && judgement->verdict.test->paired ? &*judgement->verdict.test : nullptr;
}

Scale pair_scale(const PairedMetric& paired, const Equivalence* test, const Frame& frame) {
  Range range;
  range.include(0);
  range.include(paired.differences.min);
  range.include(paired.differences.max);
  if (paired.interval) {
    range.include(paired.interval->low);
    range.include(paired.interval->high);
  }
  if (test != nullptr) {
    range.include(-test->margin.margin);
    range.include(test->margin.margin);
  }
  const Range wide = range.widened(0.06);
  return Scale::linear(wide.low, wide.high, frame.corner.x, frame.right());
}

class PairChart {
 public:
  // `test` may be nullptr.
  PairChart(Drawing& drawing, const PairedMetric& paired, const Equivalence* test)
      : drawing_(drawing),
        paired_(paired),
        test_(test),
        rows_(paired.pairs.size() <= kMostRows),
        body_(rows_ ? kRow * static_cast<double>(paired.pairs.size()) : kStrip),
        frame_(frame_beside(labels_width())),
        x_(pair_scale(paired, test, frame_)) {
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

  // The declared margin at either side of zero, and where the verdict's interval lies between.
  void margins() {
    if (test_ == nullptr) return;
    for (const double end : {-test_->margin.margin, test_->margin.margin})
      drawing_.line({x_(end), frame_.corner.y}, {x_(end), frame_.bottom()}, "axis",
                    fmt::format("declared margin {}", format_signed(end)));
    const double y = frame_.bottom() - 4;
    drawing_.line({x_(test_->interval.low), y}, {x_(test_->interval.high), y}, "line g1",
                  fmt::format("{:.4g} % interval {} to {}: {}", 100 * (1 - 2 * test_->margin.alpha),
                              format_signed(test_->interval.low), format_signed(test_->interval.high),
                              to_string(test_->verdict)));
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
  const Equivalence* test_;
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
  const Equivalence* test = test_of(comparison);
  if (test != nullptr)
    figure.caption +=
        " The solid upright lines are the declared margin; the runs are equivalent where the lowest bar, the interval "
        "of "
        "the two one-sided tests, lies between them.";
  PairChart chart(figure.drawing, paired, test);
  chart.axis(metric);
  chart.pairs();
  chart.mean(figure.description);
  chart.margins();
  return figure;
}

}  // namespace godwit::report
