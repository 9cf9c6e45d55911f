#include "godwit/ml/elementary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace godwit::ml {

TEST_CASE("elementary functions agree with the library's") {
  double exp_float = 0, exp_double = 0, log_double = 0, cos_double = 0, tanh_double = 0, tanh_float = 0;
  for (int i = -8000; i <= 8000; ++i) {
    const double x = i * 0.0107;
    const auto f = static_cast<float>(x);
    exp_float = std::max(exp_float, std::abs(double{ml::exp(f)} / std::exp(double{f}) - 1));
    exp_double = std::max(exp_double, std::abs(ml::exp(x) / std::exp(x) - 1));
    const double positive = std::exp(x);
    log_double = std::max(log_double, std::abs(ml::log(positive) - std::log(positive)) / std::max(1.0, std::abs(x)));
    cos_double = std::max(cos_double, std::abs(ml::cos(x) - std::cos(x)));
    tanh_double = std::max(tanh_double, std::abs(ml::tanh(x) - std::tanh(x)));
    tanh_float = std::max(tanh_float, std::abs(double{ml::tanh(f)} - std::tanh(double{f})));
  }
  CHECK(exp_float < 3e-7);
  CHECK(exp_double < 9e-16);
  CHECK(log_double < 3e-16);
  CHECK(cos_double < 5e-16);
  CHECK(tanh_double < 5e-16);
  CHECK(tanh_float < 2.5e-7);
}

TEST_CASE("at the borders") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(ml::exp(0.0f) == 1.0f);
  CHECK(ml::exp(-1e30f) < 2e-38f);
  CHECK(std::isfinite(ml::exp(1e30f)));
  CHECK(ml::exp(-infinity) < 1e-300);
  CHECK(std::isnan(ml::exp(nan)));
  CHECK(std::isnan(ml::tanh(std::numeric_limits<float>::quiet_NaN())));
  CHECK(ml::tanh(1e30f) == 1.0f);
  CHECK(ml::log(1.0) == 0.0);
  for (double x : {0.0, -1.0, infinity, nan}) CHECK(std::isnan(ml::log(x)));
  CHECK(ml::power(0.9, 0) == 1.0);
  CHECK(ml::power(0.999, 1000) == doctest::Approx(std::pow(0.999, 1000)).epsilon(1e-14));
}

}  // namespace godwit::ml
