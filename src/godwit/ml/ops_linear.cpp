#include "godwit/ml/eigen.h"
#include "godwit/ml/ops.h"
#include "godwit/ml/shapes.h"

namespace godwit::ml {
namespace {

// The gradient of a b, for both factors.
template <class T>
void product_backward(Tape<T>& tape, Var a, Var b, const Tensor<T>& g) {
  if (tape.needs_gradient(a)) matrix(tape.gradient(a)).noalias() += matrix(g) * matrix(tape.value(b)).transpose();
  if (tape.needs_gradient(b)) matrix(tape.gradient(b)).noalias() += matrix(tape.value(a)).transpose() * matrix(g);
}

}  // namespace

template <class T>
Var matmul(Tape<T>& tape, Var a, Var b) {
  const Tensor<T>&x = tape.value(a), &y = tape.value(b);
  require_shape(x.cols() == y.rows(), "matmul", x.shape(), y.shape());
  Tensor<T> out = tape.scratch({x.rows(), y.cols()});
  matrix(out).noalias() = matrix(x) * matrix(y);
  return tape.record(std::move(out), tape.needs_gradient(a) || tape.needs_gradient(b),
                     [a, b](Tape<T>& t, Var self) { product_backward(t, a, b, t.gradient(self)); });
}

template <class T>
Var linear(Tape<T>& tape, Var x, Var weight, Var bias) {
  const Tensor<T>&in = tape.value(x), &w = tape.value(weight), &b = tape.value(bias);
  require_shape(in.cols() == w.rows(), "linear", in.shape(), w.shape());
  require_shape(b.size() == w.cols(), "linear", w.shape(), b.shape());
  Tensor<T> out = tape.scratch({in.rows(), w.cols()});
  auto result = matrix(out);
  result.noalias() = matrix(in) * matrix(w);
  result.rowwise() += array(b).matrix().transpose();
  const bool needs = tape.needs_gradient(x) || tape.needs_gradient(weight) || tape.needs_gradient(bias);
  return tape.record(std::move(out), needs, [x, weight, bias](Tape<T>& t, Var self) {
    const Tensor<T>& g = t.gradient(self);
    product_backward(t, x, weight, g);
    if (t.needs_gradient(bias)) array(t.gradient(bias)).matrix().transpose() += matrix(g).colwise().sum();
  });
}

template <class T>
Var embedding(Tape<T>& tape, Var table, std::span<const std::int32_t> ids) {
  const Tensor<T>& rows = tape.value(table);
  Tensor<T> out = tape.scratch({ids.size(), rows.cols()});
  const std::size_t d = rows.cols();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || static_cast<std::size_t>(ids[i]) >= rows.rows())
      throw Error(fmt::format("embedding: no row {} among {}", ids[i], rows.rows()));
    std::copy_n(rows.row(ids[i]), d, out.row(i));
  }
  std::vector<std::int32_t> kept(ids.begin(), ids.end());
  return tape.record(std::move(out), tape.needs_gradient(table), [table, kept = std::move(kept)](Tape<T>& t, Var self) {
    const Tensor<T>& g = t.gradient(self);
    Tensor<T>& into = t.gradient(table);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      T* to = into.row(kept[i]);
      const T* from = g.row(i);
      for (std::size_t c = 0; c < g.cols(); ++c) to[c] += from[c];
    }
  });
}

template <class T>
Var add_rows(Tape<T>& tape, Var x, Var rows) {
  const Tensor<T>&in = tape.value(x), &r = tape.value(rows);
  const std::size_t period = r.rows();
  require_shape(period > 0 && in.cols() == r.cols() && in.rows() % period == 0, "add_rows", in.shape(), r.shape());
  Tensor<T> out = tape.scratch(in.shape());
  for (std::size_t at = 0; at < in.size(); at += r.size())
    for (std::size_t i = 0; i < r.size(); ++i) out[at + i] = in[at + i] + r[i];
  return tape.record(std::move(out), tape.needs_gradient(x) || tape.needs_gradient(rows),
                     [x, rows](Tape<T>& t, Var self) {
                       const Tensor<T>& g = t.gradient(self);
                       if (t.needs_gradient(x)) array(t.gradient(x)) += array(g);
                       if (!t.needs_gradient(rows)) return;
                       Tensor<T>& into = t.gradient(rows);
                       for (std::size_t at = 0; at < g.size(); at += into.size())
                         for (std::size_t i = 0; i < into.size(); ++i) into[i] += g[at + i];
                     });
}

#define GODWIT_INSTANTIATE(T)                                              \
  template Var matmul<T>(Tape<T>&, Var, Var);                              \
  template Var linear<T>(Tape<T>&, Var, Var, Var);                         \
  template Var embedding<T>(Tape<T>&, Var, std::span<const std::int32_t>); \
  template Var add_rows<T>(Tape<T>&, Var, Var);
GODWIT_INSTANTIATE(float)
GODWIT_INSTANTIATE(double)
#undef GODWIT_INSTANTIATE

}  // namespace godwit::ml
