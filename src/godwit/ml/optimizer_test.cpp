#include "godwit/ml/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "godwit/base/error.h"

namespace godwit::ml {

TEST_CASE("AdamW takes the steps of its paper") {
  Parameters<double> parameters;
  Parameter<double>& matrix = parameters.add("w", {1, 1}, 2.0);
  Parameter<double>& bias = parameters.add("b", {1}, 2.0);
  AdamW<double> optimizer(parameters, {0.9, 0.99, 0.0, 0.1});
  double first = 0, second = 0, expected_w = 2, expected_b = 2;
  for (int step = 1; step <= 3; ++step) {
    const double g = 0.5 * step;
    matrix.gradient[0] = bias.gradient[0] = g;
    optimizer.step(0.01);
    first = 0.9 * first + 0.1 * g;
    second = 0.99 * second + 0.01 * g * g;
    const double update = 0.01 * (first / (1 - std::pow(0.9, step))) / std::sqrt(second / (1 - std::pow(0.99, step)));
    expected_w = expected_w * (1 - 0.01 * 0.1) - update;
    expected_b -= update;
    CHECK(matrix.value[0] == doctest::Approx(expected_w).epsilon(1e-12));
    CHECK(bias.value[0] == doctest::Approx(expected_b).epsilon(1e-12));
  }
  CHECK(optimizer.steps() == 3);
}

TEST_CASE("AdamW finds the least of a bowl, and leaves frozen weights alone") {
  Parameters<float> parameters;
  Parameter<float>&x = parameters.add("x", {1, 2}, 1.0f), &frozen = parameters.add("f", {1, 2}, 1.0f);
  frozen.rate_factor = 0;
  AdamW<float> optimizer(parameters, {0.9, 0.999, 1e-8, 0.0});
  for (int step = 0; step < 500; ++step) {
    for (std::size_t i = 0; i < 2; ++i) {
      x.gradient[i] = 2 * (x.value[i] - 3);
      frozen.gradient[i] = 1;
    }
    optimizer.step(0.05);
  }
  CHECK(x.value[0] == doctest::Approx(3).epsilon(0.01));
  CHECK(frozen.value[0] == 1.0f);
}

TEST_CASE("clipping scales all gradients to the limit, and leaves small ones") {
  Parameters<float> parameters;
  parameters.add("a", {1}).gradient[0] = 3;
  parameters.add("b", {1}).gradient[0] = 4;
  CHECK(parameters.clip_gradients(10) == doctest::Approx(5));
  CHECK(parameters.find("b")->gradient[0] == 4.0f);
  CHECK(parameters.clip_gradients(1) == doctest::Approx(5));
  CHECK(parameters.find("a")->gradient[0] == doctest::Approx(0.6f));
  CHECK(parameters.gradient_norm() == doctest::Approx(1));
  CHECK_THROWS_AS(parameters.add("a", {2}), Error);
}

TEST_CASE("schedules") {
  const Schedule constant{1e-3, 4, 100, Decay::constant}, cosine{1e-3, 4, 104, Decay::cosine};
  for (const Schedule& s : {constant, cosine}) {
    CHECK(s.rate(0) == doctest::Approx(0.25e-3));
    CHECK(s.rate(3) == doctest::Approx(1e-3));
    CHECK(s.rate(4) == doctest::Approx(1e-3));
  }
  CHECK(constant.rate(99) == doctest::Approx(1e-3));
  CHECK(cosine.rate(54) == doctest::Approx(0.5e-3));
  CHECK(cosine.rate(104) == doctest::Approx(0));
  CHECK(cosine.rate(1000) == doctest::Approx(0));
}

}  // namespace godwit::ml
