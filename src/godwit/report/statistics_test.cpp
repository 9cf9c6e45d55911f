#include "godwit/report/statistics.h"

#include <doctest/doctest.h>

#include <cmath>
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
}

}  // namespace
}  // namespace godwit::report
