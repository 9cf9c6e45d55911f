#include <limits>

#include "godwit/ml/eigen.h"
#include "godwit/ml/elementary.h"
#include "godwit/ml/ops.h"
#include "godwit/ml/shapes.h"

namespace godwit::ml {

template <class T>
Var add(Tape<T>& tape, Var a, Var b) {
  const Tensor<T>&x = tape.value(a), &y = tape.value(b);
  require_shape(x.shape() == y.shape(), "add", x.shape(), y.shape());
  Tensor<T> out = tape.scratch(x.shape());
  array(out) = array(x) + array(y);
  return tape.record(std::move(out), tape.needs_gradient(a) || tape.needs_gradient(b), [a, b](Tape<T>& t, Var self) {
    const Tensor<T>& g = t.gradient(self);
    if (t.needs_gradient(a)) array(t.gradient(a)) += array(g);
    if (t.needs_gradient(b)) array(t.gradient(b)) += array(g);
  });
}

template <class T>
Var mul(Tape<T>& tape, Var a, Var b) {
  const Tensor<T>&x = tape.value(a), &y = tape.value(b);
  require_shape(x.shape() == y.shape(), "mul", x.shape(), y.shape());
  Tensor<T> out = tape.scratch(x.shape());
  array(out) = array(x) * array(y);
  return tape.record(std::move(out), tape.needs_gradient(a) || tape.needs_gradient(b), [a, b](Tape<T>& t, Var self) {
    const Tensor<T>& g = t.gradient(self);
    if (t.needs_gradient(a)) array(t.gradient(a)) += array(g) * array(t.value(b));
    if (t.needs_gradient(b)) array(t.gradient(b)) += array(g) * array(t.value(a));
  });
}

template <class T>
Var scale(Tape<T>& tape, Var a, T factor) {
  Tensor<T> out = tape.scratch(tape.value(a).shape());
  array(out) = array(tape.value(a)) * factor;
  return tape.record(std::move(out), tape.needs_gradient(a),
                     [a, factor](Tape<T>& t, Var self) { array(t.gradient(a)) += array(t.gradient(self)) * factor; });
}

template <class T>
Var relu(Tape<T>& tape, Var x) {
  Tensor<T> out = tape.scratch(tape.value(x).shape());
  array(out) = array(tape.value(x)).max(T(0));
  return tape.record(std::move(out), tape.needs_gradient(x), [x](Tape<T>& t, Var self) {
    array(t.gradient(x)) += (array(t.value(self)) > T(0)).select(array(t.gradient(self)), T(0));
  });
}

template <class T>
Var gelu(Tape<T>& tape, Var x) {
  constexpr T kA = T(0.7978845608028654), kB = T(0.044715);  // sqrt(2 / pi), and the paper's constant
  const Tensor<T>& in = tape.value(x);
  Tensor<T> out = tape.scratch(in.shape());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const T v = in[i];
    out[i] = T(0.5) * v * (T(1) + tanh(kA * (v + kB * v * v * v)));
  }
  return tape.record(std::move(out), tape.needs_gradient(x), [x](Tape<T>& t, Var self) {
    const Tensor<T>&from = t.gradient(self), &v = t.value(x);
    Tensor<T>& into = t.gradient(x);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const T u = v[i], th = tanh(kA * (u + kB * u * u * u));
      const T slope = T(0.5) * (T(1) + th) + T(0.5) * u * (T(1) - th * th) * kA * (T(1) + T(3) * kB * u * u);
      into[i] += from[i] * slope;
    }
  });
}

template <class T>
Var dropout(Tape<T>& tape, Var x, double p, Random& random) {
  if (p == 0) return x;
  const bool is_probability = p > 0 && p < 1;  // of NaN not
  if (!is_probability) throw Error(fmt::format("dropout: {} is no probability below 1", p));
  const Tensor<T>& in = tape.value(x);
  const auto threshold = static_cast<std::uint32_t>(p * 0x1p32);
  const T keep = static_cast<T>(1 / (1 - p));
  Tensor<T> mask = tape.scratch(in.shape());
  for (T& m : mask.values()) m = random.bits() < threshold ? T(0) : keep;
  return mul(tape, x, tape.constant(std::move(mask)));
}

#define GODWIT_INSTANTIATE(T)              \
  template Var add<T>(Tape<T>&, Var, Var); \
  template Var mul<T>(Tape<T>&, Var, Var); \
  template Var scale<T>(Tape<T>&, Var, T); \
  template Var relu<T>(Tape<T>&, Var);     \
  template Var gelu<T>(Tape<T>&, Var);     \
  template Var dropout<T>(Tape<T>&, Var, double, Random&);
GODWIT_INSTANTIATE(float)
GODWIT_INSTANTIATE(double)
#undef GODWIT_INSTANTIATE

}  // namespace godwit::ml
