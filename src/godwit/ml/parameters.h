// The named weights of a model, with their gradients.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "godwit/ml/random.h"
#include "godwit/ml/tape.h"

namespace godwit::ml {

template <class T>
struct Parameter {
  std::string name;  // as in the checkpoint: "layers.0.attention.query.weight"
  Tensor<T> value;
  Tensor<T> gradient;
  bool decays = true;      // weight decay applies: matrices yes, biases and gains no
  double rate_factor = 1;  // times the learning rate; 0: frozen
};

template <class T>
class Parameters {
 public:
  // A reference stays valid as long as the Parameters do. Throws Error for a name there is already.
  Parameter<T>& add(std::string name, Shape shape, T fill = T(0));
  // Uniform in (-limit, limit).
  Parameter<T>& add_uniform(std::string name, Shape shape, double limit, Random& random);

  Parameter<T>* find(std::string_view name);
  std::deque<Parameter<T>>& all() { return all_; }
  const std::deque<Parameter<T>>& all() const { return all_; }
  std::size_t element_count() const;

  void clear_gradients();
  // The Euclidean norm of all gradients together.
  double gradient_norm() const;
  // Scales the gradients down so that their norm is at most `limit`; returns the norm they had.
  double clip_gradients(double limit);

 private:
  std::deque<Parameter<T>> all_;
};

// The parameter on a tape: frozen where its rate_factor is 0.
template <class T>
Var on_tape(Tape<T>& tape, Parameter<T>& parameter) {
  return parameter.rate_factor == 0 ? tape.frozen(parameter.value)
                                    : tape.parameter(parameter.value, parameter.gradient);
}

extern template class Parameters<float>;
extern template class Parameters<double>;

}  // namespace godwit::ml
