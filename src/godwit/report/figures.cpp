#include "godwit/report/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/report/figure_parts.h"

namespace godwit::report {

std::vector<Figure> draw_figures(const Comparison& comparison) {
  std::vector<Figure> figures;
  const Legend legend(comparison);
  const auto keep = [&](std::optional<Figure> figure) {
    if (figure) figures.push_back(std::move(*figure));
  };
  keep(draw_curves(comparison, legend));
  keep(draw_paths(comparison, legend));
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
