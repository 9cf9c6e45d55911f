// The pictures of a comparison: loss curves, paired differences along and after training, what ran where, epoch times.
#pragma once

#include <string>
#include <vector>

#include "godwit/report/chart.h"
#include "godwit/report/comparison.h"

namespace godwit::report {

struct Figure {
  std::string id;           // "curves", "difference", "paths", "pairs", "times"
  std::string title;        // "val_loss by epoch"
  std::string description;  // what there is to see, for people who cannot: with the numbers
  std::string caption;      // how to read it
  Drawing drawing;
};

// Those that can be drawn: without metrics there are no curves, without a baseline no differences.
std::vector<Figure> draw_figures(const Comparison& comparison);

// All figures as one picture that stands alone: two columns, lettered. An <svg> document.
std::string figures_svg(const Comparison& comparison);

}  // namespace godwit::report
