// AdamW (Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR 2019) and learning-rate schedules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "godwit/ml/parameters.h"

namespace godwit::ml {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

template <class T>
class AdamW {
 public:
  // `parameters` must outlive the optimizer and not grow.
  AdamW(Parameters<T>& parameters, AdamWOptions options);

  // One update with the gradients that the parameters hold.
  void step(double learning_rate);

  // The state that a checkpoint must keep beside the weights: the number of steps taken, and the running means of
  // each parameter's gradient and squared gradient, in the order of the parameters.
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps) { steps_ = steps; }
  std::vector<Tensor<T>>& first_moments() { return first_; }
  std::vector<Tensor<T>>& second_moments() { return second_; }

 private:
  Parameters<T>& parameters_;
  AdamWOptions options_;
  std::uint64_t steps_ = 0;
  std::vector<Tensor<T>> first_, second_;
};

extern template class AdamW<float>;
extern template class AdamW<double>;

enum class Decay : std::uint8_t { constant, cosine };

// A linear rise over the first `warmup` steps, then constant, or half a cosine down to 0 at `total` steps.
struct Schedule {
  double peak = 1e-3;
  std::uint64_t warmup = 0;
  std::uint64_t total = 0;
  Decay decay = Decay::constant;

  // The learning rate of step `step`, counted from 0.
  double rate(std::uint64_t step) const;
};

}  // namespace godwit::ml
