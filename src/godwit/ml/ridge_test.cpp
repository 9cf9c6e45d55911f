#include "godwit/ml/ridge.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/ml/random.h"
#include "godwit/ml/rank.h"

namespace godwit::ml {
namespace {

Tensor<double> without_row(const Tensor<double>& x, std::size_t row) {
  Tensor<double> kept({x.rows() - 1, x.cols()});
  for (std::size_t r = 0, to = 0; r < x.rows(); ++r)
    if (r != row) std::copy_n(x.row(r), x.cols(), kept.row(to++));
  return kept;
}

double leave_one_out(const Tensor<double>& x, const std::vector<double>& y, double penalty) {
  double total = 0;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    std::vector<double> kept = y;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(r));
    Tensor<double> one({1, x.cols()});
    std::copy_n(x.row(r), x.cols(), one.data());
    const double predicted = Ridge::fit(without_row(x, r), kept, std::vector{penalty}).predict(one)[0];
    total += (predicted - y[r]) * (predicted - y[r]);
  }
  return total;
}

}  // namespace

TEST_CASE("one feature: the slope is the textbook's") {
  Tensor<double> x({4, 1});
  const std::vector<double> y{1, 3, 5, 11};
  for (std::size_t i = 0; i < 4; ++i) x[i] = static_cast<double>(i);
  // Centred x: -1.5 -0.5 0.5 1.5 (sum of squares 5), with y: 16.
  const Ridge fit = Ridge::fit(x, y, std::vector{3.0});
  CHECK(fit.weights()[0] == doctest::Approx(16.0 / 8));
  CHECK(fit.intercept() == doctest::Approx(5 - 2 * 1.5));
}

TEST_CASE("the penalty chosen has the least leave-one-out error, counted by leaving one out") {
  Random random(8, 0);
  Tensor<double> x({12, 20});  // more features than rows, as with one-hot variants
  for (double& v : x.values()) v = random.normal();
  std::vector<double> y(12);
  for (std::size_t i = 0; i < 12; ++i) y[i] = 4 + x.at(i, 0) - 2 * x.at(i, 1) + 0.3 * random.normal();
  const std::vector<double> penalties{0.01, 1, 10, 100, 10000};
  double best = 0, least = 1e300;
  for (double penalty : penalties) {
    const double error = leave_one_out(x, y, penalty);
    if (error < least) {
      least = error;
      best = penalty;
    }
  }
  CHECK(Ridge::fit(x, y, penalties).penalty() == best);
}

TEST_CASE("ridge says what it cannot fit") {
  Tensor<double> x({2, 1});
  CHECK_THROWS_AS(Ridge::fit(x, std::vector<double>{1}, usual_penalties()), Error);
  CHECK_THROWS_AS(Ridge::fit(x, std::vector<double>{1, std::nan("")}, usual_penalties()), Error);
  CHECK_THROWS_AS(Ridge::fit(x, std::vector<double>{1, 2}, usual_penalties()).predict(Tensor<double>({1, 2})), Error);
}

TEST_CASE("Spearman's correlation") {
  CHECK(ranks(std::vector<double>{10, 30, 20, 30}) == std::vector<double>{1, 3.5, 2, 3.5});
  const std::vector<double> a{1, 2, 3, 4, 5}, cubes{1, 8, 27, 64, 125}, down{5, 4, 3, 2, 1}, flat(5, 1.0);
  CHECK(spearman(a, cubes) == doctest::Approx(1));
  CHECK(spearman(a, down) == doctest::Approx(-1));
  CHECK(spearman(a, flat) == 0);
  // Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  CHECK(spearman(a, std::vector<double>{2, 1, 4, 3, 5}) == doctest::Approx(0.8));
}

}  // namespace godwit::ml
