#include "godwit/report/equivalence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "godwit/report/distributions.h"

namespace godwit::report {
namespace {

Interval interval_of(double difference, double half) {
  return {difference - half, difference + half};
}

// P(T > t) of a difference over its error, which may be 0: then the difference itself decides.
double tail(double numerator, double error, double df) {
  if (error > 0) return student_t_upper_tail(numerator / error, df);
  return numerator > 0 ? 0 : numerator < 0 ? 1 : 0.5;
}

void judge(Equivalence& test) {
  const auto& [margin, alpha] = test.margin;
  const double d = test.difference;
  const double error = test.standard_error;
  test.interval = interval_of(d, student_t_quantile(1 - alpha, test.df) * error);
  test.wide_interval = interval_of(d, student_t_quantile(1 - alpha / 2, test.df) * error);
  test.p_lower = tail(d + margin, error, test.df);
  test.p_upper = tail(margin - d, error, test.df);
  test.p_difference = std::min(1.0, 2 * tail(std::fabs(d), error, test.df));
  test.smallest_margin = std::max(std::fabs(test.interval.low), std::fabs(test.interval.high));
  if (test.interval.low > -margin && test.interval.high < margin)
    test.verdict = Verdict::equivalent;
  else if (test.wide_interval.low > 0 || test.wide_interval.high < 0)
    test.verdict = Verdict::different;
  test.beyond_margin =
      test.verdict == Verdict::different && (test.interval.low > margin || test.interval.high < -margin);
}

// The least n for which `power_of(n)` is enough; power grows with n.
std::optional<std::size_t> least_runs(const auto& power_of) {
  constexpr std::size_t kMost = 1'000'000;
  std::size_t high = 2;
  while (high < kMost && power_of(high) < kPowerWanted) high *= 2;
  if (high >= kMost) return std::nullopt;
  std::size_t low = std::max<std::size_t>(2, high / 2);
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (power_of(middle) >= kPowerWanted)
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

// Welch's standard error and Satterthwaite's degrees of freedom for groups of these sizes and spreads.
struct WelchError {
  double error = 0;
  double df = 1;
};

WelchError welch(double sd_a, std::size_t n_a, double sd_b, std::size_t n_b) {
  const auto a = static_cast<double>(n_a);
  const auto b = static_cast<double>(n_b);
  const double part_a = sd_a * sd_a / a;
  const double part_b = sd_b * sd_b / b;
  const double sum = part_a + part_b;
  if (sum == 0) return {0, a + b - 2};
  return {std::sqrt(sum), sum * sum / (part_a * part_a / (a - 1) + part_b * part_b / (b - 1))};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> kNames = {"equivalent", "different", "inconclusive"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::optional<Equivalence> test_pairs(std::span<const double> differences, const Margin& margin) {
  const Summary sample = summarize(differences);
  if (sample.n < 2) return std::nullopt;
  Equivalence test;
  test.margin = margin;
  test.migrated = test.baseline = sample.n;
  test.difference = sample.mean;
  test.standard_error = standard_error(sample);
  test.df = static_cast<double>(sample.n - 1);
  judge(test);
  const auto power_of = [&](std::size_t n) {
    return tost_power(
        {0, sample.sd / std::sqrt(static_cast<double>(n)), static_cast<double>(n - 1), margin.margin, margin.alpha});
  };
  test.power = power_of(sample.n);
  test.needed = least_runs(power_of);
  return test;
}

std::optional<Equivalence> test_groups(std::span<const double> migrated, std::span<const double> baseline,
                                       const Margin& margin) {
  const Summary a = summarize(migrated);
  const Summary b = summarize(baseline);
  if (a.n < 2 || b.n < 2) return std::nullopt;
  Equivalence test;
  test.paired = false;
  test.margin = margin;
  test.migrated = a.n;
  test.baseline = b.n;
  test.difference = a.mean - b.mean;
  const WelchError seen = welch(a.sd, a.n, b.sd, b.n);
  test.standard_error = seen.error;
  test.df = seen.df;
  judge(test);
  const auto power_at = [&](const WelchError& at) {
    return tost_power({0, at.error, at.df, margin.margin, margin.alpha});
  };
  test.power = power_at(seen);
  test.needed = least_runs([&](std::size_t n) { return power_at(welch(a.sd, n, b.sd, n)); });
  return test;
}

}  // namespace godwit::report
