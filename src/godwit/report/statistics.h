// Summaries of samples: means, spreads, quantiles, the interval of a mean.
//
// Sources: sample quantiles are Hyndman and Fan's type 7 ("Sample Quantiles in Statistical Packages", The American
// Statistician 50, 1996; the default of R and NumPy); the confidence interval is Student's ("The Probable Error of a
// Mean", Biometrika 6, 1908).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace godwit::report {

// A closed interval of a quantity, in the quantity's own unit.
struct Interval {
  double low = 0;
  double high = 0;
};

// A sample described, in the unit of its values. With n = 0 every number is 0; with n = 1 `sd` is 0 and means
// nothing.
struct Summary {
  std::size_t n = 0;
  double mean = 0;
  double sd = 0;  // of the sample: the sum of squares is divided by n - 1
  double min = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double max = 0;
};

// The values must be finite. Order does not matter.
Summary summarize(std::span<const double> values);

// The quantile of sorted values at `p` in [0, 1], type 7. There must be at least one value.
double quantile_of_sorted(std::span<const double> sorted, double p);

// sd/sqrt(n): the standard deviation of the mean; 0 where n < 2.
double standard_error(const Summary& sample);

// mean -+ t(1 - (1 - level)/2; n - 1) sd/sqrt(n): holds the mean of a normal population with probability `level`.
// nullopt where n < 2, because a spread cannot be estimated from one value.
std::optional<Interval> mean_interval(const Summary& sample, double level = 0.95);

}  // namespace godwit::report
