#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/units.h"
#include "godwit/report/figure_parts.h"
#include "godwit/report/format.h"

namespace godwit::report {
namespace {

constexpr std::size_t kMostSites = 16;
constexpr std::size_t kNameColumns = 18;
constexpr double kRow = 34;

struct TimeUnit {
  double seconds;
  const char* name;
};

TimeUnit unit_for(double most_seconds) {
  if (most_seconds >= 3 * 3600) return {3600, "hours"};
  if (most_seconds >= 180) return {60, "minutes"};
  return {1, "seconds"};
}

// Dots of single epochs, a box from quartile to quartile, a stroke at the median, and the median in words.
void draw_site(Drawing& drawing, const SiteTime& site, const Scale& x, const TimeUnit& unit, double y,
               const std::string& css) {
  const auto at = [&](double seconds) { return x(seconds / unit.seconds); };
  drawing.text({x.from() - 10, y + 4}, shorten(site.site, kNameColumns), "small", Anchor::end);
  for (const std::size_t i : spread(site.seconds.size(), kMostDots / 2))
    drawing.circle({at(site.seconds[i]), y + jitter(i) * 18}, 2.5, "dot soft " + css);
  const Summary& s = site.summary;
  const std::string tip =
      fmt::format("{}: median {}, quartiles {} and {}, {} to {}, {}", site.site, format_duration(s.median),
                  format_duration(s.lower_quartile), format_duration(s.upper_quartile), format_duration(s.min),
                  format_duration(s.max), format_count(s.n, "epoch"));
  drawing.rectangle({at(s.lower_quartile), y - 10}, std::max(1.0, at(s.upper_quartile) - at(s.lower_quartile)), 20,
                    "ring ink", tip);
  drawing.line({at(s.median), y - 10}, {at(s.median), y + 10}, "tick ink", tip);
  drawing.text({kFigureWidth - kRight, y + 4}, fmt::format("{}, n = {}", format_duration(s.median), s.n), "small muted",
               Anchor::end);
}

std::string describe_times(const Comparison& comparison) {
  std::string text = "Box plots of the seconds that one epoch took at each site.";
  for (std::size_t i = 0; i < comparison.site_times.size() && i < kMostSites; ++i) {
    const SiteTime& site = comparison.site_times[i];
    text += fmt::format(" {}: median {} over {}.", site.site, format_duration(site.summary.median),
                        format_count(site.summary.n, "epoch"));
  }
  return text;
}

std::string times_caption(const Comparison& comparison) {
  std::string caption =
      "A dot is one epoch; the box holds the middle half, the stroke is the median, given at the right.";
  if (!epoch_times_reported(comparison))
    caption += " Jobs told no times: these are between their lines, or wall time shared among short epochs.";
  if (comparison.site_times.size() > kMostSites)
    caption += fmt::format(" The first {} of {} sites.", kMostSites, comparison.site_times.size());
  return caption;
}

}  // namespace

std::optional<Figure> draw_times(const Comparison& comparison, const Legend& legend) {
  if (comparison.site_times.empty()) return std::nullopt;
  const std::size_t count = std::min(comparison.site_times.size(), kMostSites);
  double most = 0;
  double names = 0;
  for (std::size_t i = 0; i < count; ++i) {
    most = std::max(most, comparison.site_times[i].summary.max);
    names = std::max(names, text_width(shorten(comparison.site_times[i].site, kNameColumns), 12));
  }
  const double left = names + 22;
  const double medians = text_width("888 min 88 s, n = 8888", 12);
  const Frame frame{{left, 4}, kFigureWidth - left - kRight - medians, kRow * static_cast<double>(count) + 4};
  const TimeUnit unit = unit_for(most);
  const Scale x = Scale::linear(0, most / unit.seconds * 1.03, frame.corner.x, frame.right());

  Figure figure{"times", "Time per epoch by site", describe_times(comparison), times_caption(comparison),
                Drawing(kFigureWidth, frame.bottom() + kBelow)};
  draw_x_axis(figure.drawing, frame, x, fmt::format("time per epoch ({})", unit.name), true, 5);
  for (std::size_t i = 0; i < count; ++i)
    draw_site(figure.drawing, comparison.site_times[i], x, unit,
              frame.corner.y + kRow * (static_cast<double>(i) + 0.5) + 2,
              legend.site_class(comparison.site_times[i].site));
  return figure;
}

}  // namespace godwit::report
