// Operations that sum: normalization, pooling, losses.
#include <cmath>
#include <utility>

#include "godwit/ml/eigen.h"
#include "godwit/ml/elementary.h"
#include "godwit/ml/ops.h"
#include "godwit/ml/rows.h"
#include "godwit/ml/shapes.h"

namespace godwit::ml {

template <class T>
Var layer_norm(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon) {
  const Tensor<T>&in = tape.value(x), &g = tape.value(gain), &b = tape.value(bias);
  require_shape(g.size() == in.cols(), "layer_norm", in.shape(), g.shape());
  require_shape(b.size() == in.cols(), "layer_norm", in.shape(), b.shape());
  Tensor<T> out = tape.scratch(in.shape());
  Tensor<T> normal = tape.scratch(in.shape());    // (x - mean) / deviation
  Tensor<T> inverse = tape.scratch({in.rows()});  // 1 / deviation
  const auto source = matrix(in);
  auto hat = matrix(normal);
  auto result = matrix(out);
  for (Eigen::Index r = 0; r < source.rows(); ++r) {
    const T mean = source.row(r).mean();
    hat.row(r) = source.row(r).array() - mean;
    const T s = T(1) / std::sqrt(hat.row(r).squaredNorm() / static_cast<T>(in.cols()) + epsilon);
    hat.row(r) *= s;
    inverse[static_cast<std::size_t>(r)] = s;
    result.row(r) = hat.row(r).array() * array(g).transpose() + array(b).transpose();
  }
  const Var hats = tape.constant(std::move(normal)), scales = tape.constant(std::move(inverse));
  const bool needs = tape.needs_gradient(x) || tape.needs_gradient(gain) || tape.needs_gradient(bias);
  return tape.record(std::move(out), needs, [=](Tape<T>& t, Var self) {
    const auto from = matrix(std::as_const(t.gradient(self)));
    const auto h = matrix(t.value(hats));
    if (t.needs_gradient(bias)) array(t.gradient(bias)).matrix().transpose() += from.colwise().sum();
    if (t.needs_gradient(gain))
      array(t.gradient(gain)).matrix().transpose() += (from.array() * h.array()).matrix().colwise().sum();
    if (!t.needs_gradient(x)) return;
    const auto weight = array(t.value(gain)).transpose();
    auto into = matrix(t.gradient(x));
    Eigen::Array<T, 1, Eigen::Dynamic> d(from.cols());
    for (Eigen::Index r = 0; r < from.rows(); ++r) {
      d = from.row(r).array() * weight;
      const T mean = d.mean(), along = (d * h.row(r).array()).mean();
      into.row(r).array() += t.value(scales)[static_cast<std::size_t>(r)] * (d - mean - h.row(r).array() * along);
    }
  });
}

template <class T>
Var softmax(Tape<T>& tape, Var x) {
  const Tensor<T>& in = tape.value(x);
  Tensor<T> out = tape.scratch(in.shape());
  std::copy(in.values().begin(), in.values().end(), out.data());
  for (std::size_t r = 0; r < in.rows(); ++r) softmax_row(out.row(r), in.cols());
  return tape.record(std::move(out), tape.needs_gradient(x), [x](Tape<T>& t, Var self) {
    Tensor<T>& from = t.gradient(self);  // complete, and of no use afterwards
    for (std::size_t r = 0; r < from.rows(); ++r)
      softmax_row_backward(from.row(r), t.value(self).row(r), T(1), from.cols());
    array(t.gradient(x)) += array(from);
  });
}

template <class T>
Var mean_pool(Tape<T>& tape, Var x, std::size_t length) {
  const Tensor<T>& in = tape.value(x);
  if (length == 0 || in.rows() % length != 0)
    throw Error(fmt::format("mean_pool: {} rows are no multiple of {}", in.rows(), length));
  const std::size_t n = in.rows() / length;
  Tensor<T> out = tape.scratch({n, in.cols()});
  for (std::size_t i = 0; i < n; ++i)
    matrix(out).row(index(i)) = matrix(in).middleRows(index(i * length), index(length)).colwise().mean();
  return tape.record(std::move(out), tape.needs_gradient(x), [x, length](Tape<T>& t, Var self) {
    const auto from = matrix(std::as_const(t.gradient(self)));
    auto into = matrix(t.gradient(x));
    for (Eigen::Index i = 0; i < from.rows(); ++i)
      into.middleRows(i * index(length), index(length)).rowwise() += from.row(i) / static_cast<T>(length);
  });
}

template <class T>
Var sum(Tape<T>& tape, Var x) {
  Tensor<T> out = tape.scratch({1});
  out[0] = array(tape.value(x)).sum();
  return tape.record(std::move(out), tape.needs_gradient(x),
                     [x](Tape<T>& t, Var self) { array(t.gradient(x)) += t.gradient(self)[0]; });
}

template <class T>
Var squared_error(Tape<T>& tape, Var prediction, const Tensor<T>& target) {
  const Tensor<T>& p = tape.value(prediction);
  require_shape(p.shape() == target.shape() && p.rows() != 0, "squared_error", p.shape(), target.shape());
  Tensor<T> difference = tape.scratch(p.shape());
  array(difference) = array(p) - array(target);
  Tensor<T> out = tape.scratch({1});
  out[0] = array(difference).square().sum() / static_cast<T>(p.rows());
  const Var d = tape.constant(std::move(difference));
  return tape.record(std::move(out), tape.needs_gradient(prediction), [prediction, d](Tape<T>& t, Var self) {
    const T factor = T(2) * t.gradient(self)[0] / static_cast<T>(t.value(d).rows());
    array(t.gradient(prediction)) += array(t.value(d)) * factor;
  });
}

template <class T>
Var cross_entropy(Tape<T>& tape, Var logits, std::span<const std::int32_t> classes) {
  const Tensor<T>& x = tape.value(logits);
  if (x.rows() != classes.size() || x.rows() == 0)
    throw Error(fmt::format("cross_entropy: {} rows for {} classes", x.rows(), classes.size()));
  Tensor<T> p = tape.scratch(x.shape());
  std::copy(x.values().begin(), x.values().end(), p.data());
  double total = 0;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    if (classes[r] < 0 || static_cast<std::size_t>(classes[r]) >= x.cols())
      throw Error(fmt::format("cross_entropy: no class {} among {}", classes[r], x.cols()));
    const SoftmaxScale<T> scale = softmax_row(p.row(r), x.cols());
    total += static_cast<double>(scale.largest - x.at(r, classes[r])) + log(static_cast<double>(scale.total));
  }
  Tensor<T> out = tape.scratch({1});
  out[0] = static_cast<T>(total / static_cast<double>(x.rows()));
  const Var probability = tape.constant(std::move(p));
  std::vector<std::int32_t> kept(classes.begin(), classes.end());
  return tape.record(std::move(out), tape.needs_gradient(logits),
                     [logits, probability, kept = std::move(kept)](Tape<T>& t, Var self) {
                       const T factor = t.gradient(self)[0] / static_cast<T>(kept.size());
                       Tensor<T>& into = t.gradient(logits);
                       array(into) += array(t.value(probability)) * factor;
                       for (std::size_t r = 0; r < kept.size(); ++r) into.at(r, kept[r]) -= factor;
                     });
}

#define GODWIT_INSTANTIATE(T)                                     \
  template Var layer_norm<T>(Tape<T>&, Var, Var, Var, T);         \
  template Var softmax<T>(Tape<T>&, Var);                         \
  template Var mean_pool<T>(Tape<T>&, Var, std::size_t);          \
  template Var sum<T>(Tape<T>&, Var);                             \
  template Var squared_error<T>(Tape<T>&, Var, const Tensor<T>&); \
  template Var cross_entropy<T>(Tape<T>&, Var, std::span<const std::int32_t>);
GODWIT_INSTANTIATE(float)
GODWIT_INSTANTIATE(double)
#undef GODWIT_INSTANTIATE

}  // namespace godwit::ml
