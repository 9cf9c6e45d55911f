// What moving did along the way, beside the verdict on where runs ended: whether the migrated runs' curves stay among
// the baseline's, whether they jump where the site changes, and how much of the spread belongs to sites.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "godwit/report/statistics.h"
#include "godwit/report/variance.h"

namespace godwit::report {

struct Comparison;

// At each epoch, where one more baseline run of the same values would lie with a probability of 95 %: mean of the
// cell's baseline runs ± t(0.975; df) s √(1 + 1/n), with s pooled over the cells (Hahn and Meeker, Statistical
// Intervals, 1991, section 4.7).
struct BandPoint {
  int epoch = 0;
  double low = 0, high = 0;
};

struct CellBand {
  std::string values;  // those that vary; empty where none does
  std::vector<BandPoint> points;
};

// A migrated run that leaves even the band that all values together keep to with a probability of 95 % (Bonferroni).
struct Excursion {
  std::size_t run = 0;
  int epoch = 0;  // where it is farthest out
  double t = 0;   // (value - mean)/(s √(1 + 1/n))
};

struct Bands {
  std::vector<CellBand> cells;
  std::size_t values = 0, inside = 0;  // of migrated runs, an epoch each
  std::vector<Excursion> outside;
};

// The step of a pair's difference from one epoch to the next, where the migrated run changes site, minus its mean step
// elsewhere; one number a pair. Steps that any restart makes are the baseline's too and cancel.
struct Jumps {
  std::size_t changes = 0;           // of site, over all pairs
  Summary sizes;                     // of the pairs' jumps, in the metric's unit
  std::optional<Interval> interval;  // 95 % for the mean jump
  double p = 1;                      // two-sided, of no jump (Student's one-sample t)
};

struct Spread {
  VarianceComponents parts;
  bool with_sites = true;          // false: they could not be told apart; `parts.site` is 0 and means nothing
  bool seeds_hold_values = false;  // each combination of values has one seed only, so that these vary together
};

// Each with the reason why it is absent: a clause for people.
struct Moves {
  std::optional<Bands> bands;
  std::optional<Jumps> jumps;
  std::optional<Spread> spread;
  std::string no_bands, no_jumps, no_spread;
};

Moves find_moves(const Comparison& comparison);

}  // namespace godwit::report
