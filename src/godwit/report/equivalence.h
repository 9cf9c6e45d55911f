// Whether two groups of runs are equivalent: two one-sided tests against a margin declared beforehand.
//
// Sources: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987); for groups without pairs Welch,
// Biometrika 34 (1947), with Satterthwaite's degrees of freedom (Biometrics Bulletin 2, 1946). The three answers are
// those of Lakens, Social Psychological and Personality Science 8 (2017).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "godwit/report/statistics.h"

namespace godwit::report {

enum class Verdict : std::uint8_t {
  equivalent,    // the 1 - 2 alpha interval lies within the margins
  different,     // not that, and the 1 - alpha interval does not hold zero
  inconclusive,  // neither
};
std::string_view to_string(Verdict verdict);

// What was said before the experiment, in the metric's own unit.
struct Margin {
  double margin = 0;    // > 0
  double alpha = 0.05;  // of each one-sided test, and of the two-sided one; in (0, 0.5)
};

struct Equivalence {
  bool paired = true;
  std::size_t migrated = 0, baseline = 0;  // runs; pairs where `paired`, then both the same
  Margin margin;
  double difference = 0;  // migrated - baseline
  double standard_error = 0;
  double df = 0;
  Interval interval;       // of the difference, at level 1 - 2 alpha
  Interval wide_interval;  // at level 1 - alpha: what "different" looks at
  // That the difference is not above -margin, not below +margin: both must be below alpha.
  double p_lower = 1, p_upper = 1;
  double p_difference = 1;  // two-sided, of no difference
  Verdict verdict = Verdict::inconclusive;
  bool beyond_margin = false;  // different, and the whole interval lies outside the margins
  double smallest_margin = 0;  // with any larger one the same data would be equivalent
  // If the true difference is 0 and the spread is the one seen: the chance of "equivalent" with as many runs, and the
  // pairs (or runs in each group) that make it 80 %. nullopt: more than a million.
  double power = 0;
  std::optional<std::size_t> needed;

  double p_equivalence() const { return p_lower > p_upper ? p_lower : p_upper; }
};

inline constexpr double kPowerWanted = 0.8;

// Of the differences of pairs. nullopt where there are fewer than two.
std::optional<Equivalence> test_pairs(std::span<const double> differences, const Margin& margin);
// Of two groups of independent runs. nullopt where one has fewer than two.
std::optional<Equivalence> test_groups(std::span<const double> migrated, std::span<const double> baseline,
                                       const Margin& margin);

}  // namespace godwit::report
