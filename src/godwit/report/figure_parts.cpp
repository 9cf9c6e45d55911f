#include "godwit/report/figure_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "godwit/report/format.h"

namespace godwit::report {
namespace {

// The groups that get a colour: all, or where they are too many those with the best means.
std::vector<std::size_t> coloured_groups(const Comparison& comparison) {
  std::vector<std::size_t> order(comparison.groups.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr std::size_t kMost = kGroupColours - 1;  // grey is the baseline's
  if (order.size() <= kMost || comparison.has_baseline) return order;
  const auto badness = [&](std::size_t group) {
    if (!comparison.has_metrics()) return 0.0;
    const Summary& last = comparison.groups[group].metrics[comparison.primary].last;
    if (last.n == 0) return std::numeric_limits<double>::infinity();
    return comparison.metrics[comparison.primary].goal == Goal::lowest ? last.mean : -last.mean;
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return badness(a) < badness(b); });
  order.resize(kMost);
  return order;
}

}  // namespace

Legend::Legend(const Comparison& comparison) : sites_(comparison.sites) {
  group_classes_.assign(comparison.groups.size(), "gx");
  std::size_t next = 0;
  for (const std::size_t group : coloured_groups(comparison)) {
    if (comparison.groups[group].baseline) {
      group_classes_[group] = "g1";
      continue;
    }
    group_classes_[group] = fmt::format("g{}", next);
    next += next == 0 ? 2 : 1;
  }
  group_of_run_.resize(comparison.experiment.runs.size());
  for (std::size_t group = 0; group < comparison.groups.size(); ++group)
    for (const std::size_t run : comparison.groups[group].runs) group_of_run_[run] = group;
}

bool Legend::has_uncoloured_groups() const {
  return std::find(group_classes_.begin(), group_classes_.end(), "gx") != group_classes_.end();
}

std::string Legend::site_suffix(std::string_view site) const {
  const auto place = static_cast<std::size_t>(std::find(sites_.begin(), sites_.end(), site) - sites_.begin());
  return place < kSiteColours ? fmt::to_string(place) : "x";
}

std::string Legend::short_site(std::string_view site) const {
  for (std::size_t length = 1; length < site.size(); ++length) {
    if ((static_cast<unsigned char>(site[length]) & 0xC0) == 0x80) continue;  // inside a code point
    const bool alone = std::none_of(sites_.begin(), sites_.end(), [&](const std::string& other) {
      return other != site && other.compare(0, length, site.substr(0, length)) == 0;
    });
    if (alone) return std::string(site.substr(0, length));
  }
  return std::string(site);
}

double draw_legend(Drawing& drawing, Place corner, double width, const std::vector<LegendItem>& items) {
  constexpr double kRow = 20;
  Place at = corner;
  for (const LegendItem& item : items) {
    const double mark = item.mark == LegendItem::Mark::new_row ? 0 : item.mark == LegendItem::Mark::line ? 26 : 16;
    const std::string text = shorten(item.text, 60);
    const double wide = mark + text_width(text, 12) + 14;
    const bool full = at.x + wide - 14 > corner.x + width || item.mark == LegendItem::Mark::new_row;
    if (at.x > corner.x && full) at = {corner.x, at.y + kRow};
    const double middle = at.y + 9;
    switch (item.mark) {
      case LegendItem::Mark::line:
        drawing.line({at.x, middle}, {at.x + 20, middle}, "line " + item.css);
        break;
      case LegendItem::Mark::tick:
        drawing.line({at.x + 8, middle - 6}, {at.x + 8, middle + 6}, "tick " + item.css);
        break;
      case LegendItem::Mark::block:
        drawing.rectangle({at.x, middle - 6}, 12, 12, "block " + item.css);
        break;
      case LegendItem::Mark::new_row:
        break;
    }
    drawing.text({at.x + mark, middle + 4}, text, "small");
    at.x += wide;
  }
  return at.y + kRow - corner.y;
}

std::vector<LegendItem> site_items(const Comparison& comparison, const Legend& legend, LegendItem::Mark mark) {
  std::vector<LegendItem> items;
  for (std::size_t i = 0; i < comparison.sites.size() && i < kSiteColours; ++i)
    items.push_back({mark, legend.site_class(comparison.sites[i]), shorten(comparison.sites[i], 24)});
  if (comparison.sites.size() > kSiteColours)
    items.push_back({mark, "sx", fmt::format("{} other sites", comparison.sites.size() - kSiteColours)});
  return items;
}

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Range Range::widened(double part) const {
  const double margin = (high - low) * part;
  return {low - margin, high + margin};
}

double jitter(std::size_t i) {
  const double turns = static_cast<double>(i) * 0.6180339887498949;  // the golden ratio's multiples
  return turns - std::floor(turns) - 0.5;
}

std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> indices;
  const std::size_t shown = std::min(count, most);
  indices.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) indices.push_back(i * count / shown);
  return indices;
}

Scale epoch_scale(const Comparison& comparison, const Frame& frame) {
  int first = std::numeric_limits<int>::max();
  int last = 1;
  for (const Run& run : comparison.experiment.runs) {
    last = std::max(last, run.epochs);
    for (const Job& job : run.jobs) {
      first = std::min(first, job.first_epoch);
      last = std::max(last, job.last_epoch);
    }
    for (const Series& series : run.series)
      if (!series.points.empty()) {
        first = std::min(first, series.points.front().epoch);
        last = std::max(last, series.points.back().epoch);
      }
  }
  return Scale::linear(std::min(first, last) - 0.5, last + 0.5, frame.corner.x, frame.right());
}

std::string run_tip(const Comparison& comparison, std::size_t index) {
  const Run& run = comparison.experiment.runs[index];
  std::string tip = fmt::format("run {}", run.number);
  if (comparison.has_baseline) tip += run.baseline ? ", baseline" : ", migrated";
  const std::string values = values_label(comparison, run);
  if (!values.empty()) tip += ", " + values;
  return tip + fmt::format(", seed {}", run.seed);
}

std::vector<SiteChange> site_changes(const Run& run) {
  std::vector<SiteChange> changes;
  for (std::size_t i = 1; i < run.jobs.size(); ++i)
    if (run.jobs[i].site != run.jobs[i - 1].site)
      changes.push_back({run.jobs[i - 1].last_epoch + 0.5, run.jobs[i - 1].site, run.jobs[i].site});
  return changes;
}

double value_at(const std::vector<Point>& line, double epoch) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Point& a = line[i - 1];
    const Point& b = line[i];
    if (a.epoch <= epoch && epoch <= b.epoch)
      return a.value + (b.value - a.value) * (epoch - a.epoch) / (b.epoch - a.epoch);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace godwit::report
