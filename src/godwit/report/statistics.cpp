#include "godwit/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "godwit/report/distributions.h"

namespace godwit::report {
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
