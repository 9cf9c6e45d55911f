#include "godwit/report/distributions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <numbers>

namespace godwit::report {
namespace {

doctest::Approx near(double value, double relative) {
  return doctest::Approx(value).epsilon(relative);
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

TEST_CASE("the power of two one-sided tests in published tables") {
  // Diletti, Hauschke and Steinijans, International Journal of Clinical Pharmacology 29 (1991), table 1: subjects of a
  // two-period crossover that reach a power of 80 % with the margins 0.8 and 1.25 of a ratio. Two fewer do not.
  struct Row {
    double cv, ratio;
    int subjects;
  };
  const auto power = [](double cv, double ratio, int subjects) {
    const double error = std::sqrt(2 * std::log1p(cv * cv) / subjects);
    return tost_power({std::log(ratio), error, subjects - 2.0, std::log(1.25), 0.05});
  };
  for (const Row& row : {Row{0.15, 0.95, 12}, Row{0.20, 0.95, 20}, Row{0.25, 0.95, 28}, Row{0.30, 0.95, 40},
                         Row{0.20, 1.00, 16}, Row{0.25, 1.00, 24}, Row{0.30, 1.00, 32}}) {
    CAPTURE(row.cv);
    CAPTURE(row.ratio);
    CHECK(power(row.cv, row.ratio, row.subjects) >= 0.8);
    CHECK(power(row.cv, row.ratio, row.subjects - 2) < 0.8);
  }
  CHECK(power(0.30, 0.95, 40) == near(0.815845, 1e-6));  // the R package PowerTOST, its first example
}

TEST_CASE("power at its ends") {
  CHECK(tost_power({0, 0, 5, 1, 0.05}) == 1);  // nothing varies
  CHECK(tost_power({2, 0, 5, 1, 0.05}) == 0);
  CHECK(tost_power({0, 100, 5, 1, 0.05}) < 1e-3);
  CHECK(tost_power({1, 0.01, 50, 1, 0.05}) == near(0.05, 1e-6));  // at the margin: alpha
}

}  // namespace
}  // namespace godwit::report
