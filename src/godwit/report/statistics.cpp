#include "godwit/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace godwit::report {
namespace {

// The continued fraction of DLMF 8.17.22, by Lentz's method as Thompson and Barnett modified it (Journal of
// Computational Physics 64, 1986). Converges fast for x < (a + 1)/(a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;  // stands in for a zero denominator
  constexpr int kMostTerms = 100'000;
  const auto nonzero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double numerator = 1;
  double denominator = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double result = denominator;
  for (int term = 1; term < kMostTerms; ++term) {
    const double m = term;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    denominator = 1 / nonzero(1 + even * denominator);
    numerator = nonzero(1 + even / numerator);
    result *= denominator * numerator;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    denominator = 1 / nonzero(1 + odd * denominator);
    numerator = nonzero(1 + odd / numerator);
    const double change = denominator * numerator;
    result *= change;
    if (std::fabs(change - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return result;
}

// P(T > t) for t >= 0: small tails keep their precision, because nothing is subtracted from 1.
double student_t_upper_tail(double t, double df) {
  return regularized_incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2;
}

}  // namespace

double quantile_of_sorted(std::span<const double> sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Summary summarize(std::span<const double> values) {
  Summary summary;
  summary.n = values.size();
  if (values.empty()) return summary;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
  double squares = 0;
  double rest = 0;  // what rounding left in the sum of deviations corrects the sum of squares
  for (const double value : sorted) {
    const double deviation = value - summary.mean;
    squares += deviation * deviation;
    rest += deviation;
  }
  if (sorted.size() > 1) summary.sd = std::sqrt(std::max(0.0, squares - rest * rest / n) / (n - 1));
  summary.min = sorted.front();
  summary.lower_quartile = quantile_of_sorted(sorted, 0.25);
  summary.median = quantile_of_sorted(sorted, 0.5);
  summary.upper_quartile = quantile_of_sorted(sorted, 0.75);
  summary.max = sorted.back();
  return summary;
}

double regularized_incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - regularized_incomplete_beta(b, a, 1 - x);
  const double log_beta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  return std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta) / a * beta_fraction(a, b, x);
}

double student_t_cdf(double t, double df) {
  return t < 0 ? student_t_upper_tail(-t, df) : 1 - student_t_upper_tail(t, df);
}

double student_t_quantile(double p, double df) {
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_t_quantile(1 - p, df);
  const double tail = 1 - p;
  double low = 0;
  double high = 1;
  while (student_t_upper_tail(high, df) > tail) {
    low = high;
    high *= 2;
  }
  // Bisection: the tail is monotonic, and 200 halvings are past every double's precision.
  for (int halving = 0; halving < 200; ++halving) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (student_t_upper_tail(middle, df) > tail ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

double standard_error(const Summary& sample) {
  return sample.n < 2 ? 0 : sample.sd / std::sqrt(static_cast<double>(sample.n));
}

std::optional<Interval> mean_interval(const Summary& sample, double level) {
  if (sample.n < 2) return std::nullopt;
  const double half =
      student_t_quantile(1 - (1 - level) / 2, static_cast<double>(sample.n - 1)) * standard_error(sample);
  return Interval{sample.mean - half, sample.mean + half};
}

}  // namespace godwit::report
