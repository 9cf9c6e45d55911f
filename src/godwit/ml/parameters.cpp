#include "godwit/ml/parameters.h"

#include <cmath>

#include "godwit/base/error.h"
#include "godwit/ml/eigen.h"

namespace godwit::ml {

template <class T>
Parameter<T>& Parameters<T>::add(std::string name, Shape shape, T fill) {
  if (find(name) != nullptr) throw Error("two parameters are named '" + name + "'");
  Parameter<T>& p = all_.emplace_back();
  p.name = std::move(name);
  p.decays = shape.size() > 1;
  p.value = Tensor<T>(shape, fill);
  p.gradient = Tensor<T>(std::move(shape));
  return p;
}

template <class T>
Parameter<T>& Parameters<T>::add_uniform(std::string name, Shape shape, double limit, Random& random) {
  Parameter<T>& p = add(std::move(name), std::move(shape));
  for (T& x : p.value.values()) x = static_cast<T>(random.uniform(-limit, limit));
  return p;
}

template <class T>
Parameter<T>* Parameters<T>::find(std::string_view name) {
  for (Parameter<T>& p : all_)
    if (p.name == name) return &p;
  return nullptr;
}

template <class T>
std::size_t Parameters<T>::element_count() const {
  std::size_t n = 0;
  for (const Parameter<T>& p : all_) n += p.value.size();
  return n;
}

template <class T>
void Parameters<T>::clear_gradients() {
  for (Parameter<T>& p : all_) p.gradient.fill(T(0));
}

template <class T>
double Parameters<T>::gradient_norm() const {
  double total = 0;
  for (const Parameter<T>& p : all_) total += static_cast<double>(array(p.gradient).square().sum());
  return std::sqrt(total);
}

template <class T>
double Parameters<T>::clip_gradients(double limit) {
  const double norm = gradient_norm();
  if (norm > limit)
    for (Parameter<T>& p : all_) array(p.gradient) *= static_cast<T>(limit / norm);
  return norm;
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace godwit::ml
