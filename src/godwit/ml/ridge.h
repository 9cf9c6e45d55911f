// Ridge regression: least squares with a penalty on the squared weights (Hoerl & Kennard 1970).
#pragma once

#include <span>
#include <vector>

#include "godwit/ml/tensor.h"

namespace godwit::ml {

class Ridge {
 public:
  // Fits y ~ x w + b with the penalty, among `penalties`, whose leave-one-out error is least: in the dual form, by one
  // eigendecomposition of the n x n matrix of inner products (Rifkin & Lippert 2007, "Notes on regularized least
  // squares"). The intercept is not penalized. x: [n, features], n >= 2.
  static Ridge fit(const Tensor<double>& x, std::span<const double> y, std::span<const double> penalties);

  std::vector<double> predict(const Tensor<double>& x) const;
  std::span<const double> weights() const { return weights_; }
  double intercept() const { return intercept_; }
  double penalty() const { return penalty_; }

 private:
  std::vector<double> weights_;
  double intercept_ = 0;
  double penalty_ = 0;
};

// 10^-3 … 10^4, three per decade.
std::vector<double> usual_penalties();

}  // namespace godwit::ml
