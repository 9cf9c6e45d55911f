#include "godwit/ml/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "godwit/ml/eigen.h"
#include "godwit/ml/elementary.h"

namespace godwit::ml {

template <class T>
AdamW<T>::AdamW(Parameters<T>& parameters, AdamWOptions options) : parameters_(parameters), options_(options) {
  for (const Parameter<T>& p : parameters.all()) {
    first_.emplace_back(p.value.shape());
    second_.emplace_back(p.value.shape());
  }
}

template <class T>
void AdamW<T>::step(double learning_rate) {
  ++steps_;
  const auto beta1 = static_cast<T>(options_.beta1), beta2 = static_cast<T>(options_.beta2);
  const auto epsilon = static_cast<T>(options_.epsilon);
  const auto scale1 = static_cast<T>(1 / (1 - power(options_.beta1, steps_)));
  const auto scale2 = static_cast<T>(1 / (1 - power(options_.beta2, steps_)));
  std::size_t i = 0;
  for (Parameter<T>& p : parameters_.all()) {
    auto first = array(first_[i]), second = array(second_[i]), value = array(p.value);
    const auto gradient = array(p.gradient);
    ++i;
    if (p.rate_factor == 0) continue;
    const auto rate = static_cast<T>(learning_rate * p.rate_factor);
    const auto shrink = static_cast<T>(p.decays ? 1 - learning_rate * p.rate_factor * options_.weight_decay : 1);
    first = beta1 * first + (T(1) - beta1) * gradient;
    second = beta2 * second + (T(1) - beta2) * gradient.square();
    value = value * shrink - rate * (first * scale1) / ((second * scale2).sqrt() + epsilon);
  }
}

template class AdamW<float>;
template class AdamW<double>;

double Schedule::rate(std::uint64_t step) const {
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (decay == Decay::constant || total <= warmup) return peak;
  const double done = static_cast<double>(std::min(step, total) - warmup) / static_cast<double>(total - warmup);
  return peak * 0.5 * (1 + cos(std::numbers::pi * done));
}

}  // namespace godwit::ml
