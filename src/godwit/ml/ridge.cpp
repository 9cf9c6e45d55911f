#include "godwit/ml/ridge.h"

#include <Eigen/Eigenvalues>
#include <limits>

#include "godwit/base/error.h"
#include "godwit/ml/eigen.h"

namespace godwit::ml {
namespace {

using Vector = Eigen::VectorXd;

// The dual coefficients (K + penalty)^-1 y, and the mean squared leave-one-out error c_i / (K + penalty)^-1_ii, given
// K = U diag(values) U'. Where U holds the constant vector (K is centred), its part is left out: it is the intercept's.
struct Dual {
  Vector coefficients;
  double error;
};

Dual dual(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solver, const Vector& y, double penalty) {
  const Eigen::MatrixXd& u = solver.eigenvectors();
  const Vector inverse = (solver.eigenvalues().array().max(0.0) + penalty).inverse();
  const Vector coefficients = u * (inverse.asDiagonal() * (u.transpose() * y));
  // The intercept takes the constant direction out of the inverse as well.
  const double constant = 1.0 / (penalty * static_cast<double>(y.size()));
  const Vector diagonal = (u.array().square().matrix() * inverse).array() - constant;
  return {coefficients, (coefficients.array() / diagonal.array()).square().mean()};
}

}  // namespace

Ridge Ridge::fit(const Tensor<double>& x, std::span<const double> y, std::span<const double> penalties) {
  if (x.rows() != y.size() || y.size() < 2 || penalties.empty())
    throw Error("ridge regression needs two rows or more, one target for each, and a penalty");
  const Eigen::RowVectorXd means = matrix(x).colwise().mean();
  const Eigen::MatrixXd centred = matrix(x).rowwise() - means;
  const Eigen::Map<const Vector> target(y.data(), index(y.size()));
  const double mean = target.mean();
  const Vector residual = target.array() - mean;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(centred * centred.transpose());
  Dual best{{}, std::numeric_limits<double>::infinity()};
  Ridge result;
  for (double penalty : penalties) {
    Dual candidate = dual(solver, residual, penalty);
    if (!(candidate.error < best.error)) continue;
    best = std::move(candidate);
    result.penalty_ = penalty;
  }
  if (best.coefficients.size() == 0) throw Error("ridge regression: the values are not finite");
  const Vector weights = centred.transpose() * best.coefficients;
  result.weights_.assign(weights.begin(), weights.end());
  result.intercept_ = mean - means.dot(weights);
  return result;
}

std::vector<double> Ridge::predict(const Tensor<double>& x) const {
  if (x.cols() != weights_.size()) throw Error("ridge regression: another number of features than it was fitted to");
  const Eigen::Map<const Vector> weights(weights_.data(), index(weights_.size()));
  const Vector predicted = (matrix(x) * weights).array() + intercept_;
  return {predicted.begin(), predicted.end()};
}

std::vector<double> usual_penalties() {
  std::vector<double> all;
  for (double decade = 1e-3; decade < 2e4; decade *= 10)
    for (double step : {1.0, 2.2, 4.6}) all.push_back(decade * step);
  return all;
}

}  // namespace godwit::ml
