#include "godwit/report/statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace godwit::report {
namespace {

doctest::Approx near(double value, double relative) {
  return doctest::Approx(value).epsilon(relative);
}

TEST_CASE("a summary of a sample worked by hand") {
  // Mean 5; squared deviations 9+1+1+1+0+0+4+16 = 32; 32/7.
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const Summary summary = summarize(values);
  CHECK(summary.n == 8);
  CHECK(summary.mean == near(5, 1e-15));
  CHECK(summary.sd == near(std::sqrt(32.0 / 7), 1e-15));
  CHECK(summary.min == 2);
  CHECK(summary.lower_quartile == near(4, 1e-15));
  CHECK(summary.median == near(4.5, 1e-15));
  CHECK(summary.upper_quartile == near(5.5, 1e-15));  // place 5.25 between 5 and 7
  CHECK(summary.max == 9);
}

TEST_CASE("nothing and one value have no spread and no interval") {
  CHECK(summarize({}).n == 0);
  CHECK_FALSE(mean_interval(summarize({})));
  const std::vector<double> one = {3.5};
  CHECK(summarize(one).mean == 3.5);
  CHECK(summarize(one).median == 3.5);
  CHECK_FALSE(mean_interval(summarize(one)));
}

TEST_CASE("equal values have exactly their mean and no spread") {
  for (const double value : {1.0, 0.1, 1e-9, 12345.678}) {
    const std::vector<double> values(6, value);
    CHECK(summarize(values).mean == near(value, 1e-15));
    CHECK(summarize(values).sd < 1e-15 * value);
  }
  CHECK(summarize(std::vector<double>(6, 1.0)).mean == 1);
}

TEST_CASE("a spread far smaller than the mean survives") {
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  CHECK(summarize(values).sd == near(std::sqrt(30.0), 1e-9));  // NIST's remark on one-pass formulas
}

TEST_CASE("Student's t agrees with the printed tables") {
  struct Row {
    double df, t95, t975, t995;
  };
  // Fisher and Yates, Statistical Tables, table III, to the printed three decimals.
  for (const Row& row : {Row{1, 6.314, 12.706, 63.657}, Row{2, 2.920, 4.303, 9.925}, Row{3, 2.353, 3.182, 5.841},
                         Row{4, 2.132, 2.776, 4.604}, Row{5, 2.015, 2.571, 4.032}, Row{9, 1.833, 2.262, 3.250},
                         Row{10, 1.812, 2.228, 3.169}, Row{20, 1.725, 2.086, 2.845}, Row{30, 1.697, 2.042, 2.750},
                         Row{120, 1.658, 1.980, 2.617}}) {
    CAPTURE(row.df);
    CHECK(std::fabs(student_t_quantile(0.95, row.df) - row.t95) < 5.1e-4);
    CHECK(std::fabs(student_t_quantile(0.975, row.df) - row.t975) < 5.1e-4);
    CHECK(std::fabs(student_t_quantile(0.995, row.df) - row.t995) < 5.1e-4);
  }
}

TEST_CASE("Student's t agrees with its closed forms") {
  for (const double p : {0.5001, 0.6, 0.9, 0.975, 0.9999, 1 - 1e-9}) {
    CAPTURE(p);
    CHECK(student_t_quantile(p, 1) == near(std::tan(std::numbers::pi * (p - 0.5)), 1e-7));
    CHECK(student_t_quantile(p, 2) == near((2 * p - 1) / std::sqrt(2 * p * (1 - p)), 1e-7));
    CHECK(student_t_quantile(1 - p, 2) == near(-student_t_quantile(p, 2), 1e-6));
  }
  for (const double t : {-40.0, -1.5, 0.0, 0.3, 2.0, 17.0}) {
    CAPTURE(t);
    CHECK(student_t_cdf(t, 1) == near(0.5 + std::atan(t) / std::numbers::pi, 1e-12));
    CHECK(student_t_cdf(t, 2) == near(0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-12));
  }
  // With many degrees of freedom it nears the normal distribution: Abramowitz and Stegun 26.7.5.
  const double z = 1.959963984540054;
  const double df = 1e4;
  const double expansion =
      z + (std::pow(z, 3) + z) / (4 * df) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * df * df);
  CHECK(student_t_quantile(0.975, df) == near(expansion, 1e-11));
}

TEST_CASE("the incomplete beta function agrees with its closed forms") {
  for (const double x : {0.0, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0}) {
    CAPTURE(x);
    CHECK(regularized_incomplete_beta(1, 1, x) == near(x, 1e-13));
    CHECK(regularized_incomplete_beta(3, 1, x) == near(x * x * x, 1e-13));
    CHECK(regularized_incomplete_beta(1, 4, x) == near(1 - std::pow(1 - x, 4), 1e-13));
    CHECK(regularized_incomplete_beta(2, 2, x) == near(x * x * (3 - 2 * x), 1e-13));
  }
}

TEST_CASE("the paired interval of Student's sleep data") {
  // Biometrika 6 (1908): hours of sleep gained by ten patients with two drugs, second minus first. The interval is
  // the one R's t.test prints for it.
  const std::vector<double> first = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  std::vector<double> difference;
  for (std::size_t i = 0; i < first.size(); ++i) difference.push_back(second[i] - first[i]);
  const Summary summary = summarize(difference);
  CHECK(summary.mean == near(1.58, 1e-14));
  CHECK(summary.median == near(1.3, 1e-14));
  const auto interval = mean_interval(summary);
  REQUIRE(interval);
  CHECK(interval->low == near(0.7001142, 1e-7));
  CHECK(interval->high == near(2.4598858, 1e-7));
  CHECK(2 * (1 - student_t_cdf(4.0621, 9)) == near(0.002833, 1e-3));
}

}  // namespace
}  // namespace godwit::report
