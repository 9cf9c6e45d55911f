// What the figures share: colours given to groups and sites, legends, the choice of what is shown of many.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "godwit/report/chart.h"
#include "godwit/report/comparison.h"
#include "godwit/report/figures.h"

namespace godwit::report {

inline constexpr double kFigureWidth = 560;
inline constexpr double kLeft = 66;  // the margins of a frame with a y axis
inline constexpr double kRight = 14;
inline constexpr double kBelow = 46;  // what an x axis with its label takes below its frame
inline constexpr std::size_t kMostDots = 400;

inline const Metric& primary(const Comparison& comparison) {
  return comparison.metrics[comparison.primary];
}

// Of what is to be shown. Values that are not finite do not count.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value);
  bool empty() const { return low > high; }
  Range widened(double part) const;  // at either end, by a part of its length
};

// Gives every site and every group its colour class, and every site a short name.
class Legend {
 public:
  explicit Legend(const Comparison& comparison);

  const std::string& group_class(std::size_t group) const { return group_classes_[group]; }
  // Where groups are more than colours, those with the best means have them; the others share "gx".
  bool has_uncoloured_groups() const;
  // The class of the run's group.
  const std::string& run_class(std::size_t run) const { return group_classes_[group_of_run_[run]]; }
  // "s3"; sites beyond the palette share "sx".
  std::string site_class(std::string_view site) const { return "s" + site_suffix(site); }
  // The class of text upon a block of the site's colour.
  std::string site_text_class(std::string_view site) const { return "t" + site_suffix(site); }
  // The shortest beginning of the name that no other site has.
  std::string short_site(std::string_view site) const;

 private:
  std::string site_suffix(std::string_view site) const;

  std::vector<std::string> group_classes_;
  std::vector<std::size_t> group_of_run_;
  std::vector<std::string> sites_;
};

struct LegendItem {
  enum class Mark : std::uint8_t { line, tick, block, new_row };
  Mark mark = Mark::line;
  std::string css;
  std::string text;
};

// Items from left to right, wrapped at `width`. Returns the height it took.
double draw_legend(Drawing& drawing, Place corner, double width, const std::vector<LegendItem>& items);

// One legend item a site.
std::vector<LegendItem> site_items(const Comparison& comparison, const Legend& legend, LegendItem::Mark mark);

// At most `most` of `count` indices, evenly spread.
std::vector<std::size_t> spread(std::size_t count, std::size_t most);

// In [-0.5, 0.5), different for different i and evenly spread at every length: keeps dots of one place apart.
double jitter(std::size_t i);

// The epoch's range with half an epoch on either side.
Scale epoch_scale(const Comparison& comparison, const Frame& frame);

// "run 3, migrated, alpha=0.1, seed 7".
std::string run_tip(const Comparison& comparison, std::size_t run);

// A change of site along a run: between two of its jobs.
struct SiteChange {
  double epoch = 0;  // half an epoch after the last one at the old site
  std::string from, to;
};
std::vector<SiteChange> site_changes(const Run& run);

// The value of a line at a fractional epoch, between its neighbours; NaN outside.
double value_at(const std::vector<Point>& line, double epoch);

// The figures. nullopt where there is nothing to draw.
std::optional<Figure> draw_curves(const Comparison& comparison, const Legend& legend);
std::optional<Figure> draw_difference(const Comparison& comparison, const Legend& legend);
std::optional<Figure> draw_paths(const Comparison& comparison, const Legend& legend);
std::optional<Figure> draw_pairs(const Comparison& comparison);
std::optional<Figure> draw_times(const Comparison& comparison, const Legend& legend);

}  // namespace godwit::report
