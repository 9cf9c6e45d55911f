#include "godwit/ml/tape.h"

#include "godwit/base/error.h"

namespace godwit::ml {

template <class T>
typename Tape<T>::Node& Tape<T>::add_node() {
  return nodes_.emplace_back();
}

template <class T>
Var Tape<T>::constant(Tensor<T> value) {
  return record(std::move(value), false, nullptr);
}

template <class T>
Var Tape<T>::parameter(const Tensor<T>& value, Tensor<T>& gradient) {
  if (value.shape() != gradient.shape()) throw Error("a parameter and its gradient differ in shape");
  Node& node = add_node();
  node.value = &value;
  node.gradient = &gradient;
  node.needs_gradient = true;
  return {static_cast<std::uint32_t>(nodes_.size() - 1)};
}

template <class T>
Var Tape<T>::frozen(const Tensor<T>& value) {
  add_node().value = &value;
  return {static_cast<std::uint32_t>(nodes_.size() - 1)};
}

template <class T>
Tensor<T>& Tape<T>::gradient(Var v) {
  Node& node = nodes_[v.id];
  if (node.gradient == nullptr) {
    node.own_gradient = scratch(node.value->shape());
    node.own_gradient.fill(T(0));
    node.gradient = &node.own_gradient;
  }
  return *node.gradient;
}

template <class T>
void Tape<T>::backward(Var loss) {
  if (value(loss).size() != 1) throw Error("only a value of one element has a gradient to start from");
  gradient(loss)[0] = T(1);
  for (std::uint32_t id = loss.id + 1; id-- > 0;) {
    Node& node = nodes_[id];
    if (node.backward && node.gradient != nullptr) node.backward(*this, Var{id});
  }
}

template <class T>
void Tape<T>::reset() {
  for (Node& node : nodes_) {
    recycle(std::move(node.own));
    recycle(std::move(node.own_gradient));
  }
  nodes_.clear();
}

template <class T>
Tensor<T> Tape<T>::scratch(Shape shape) {
  const auto found = free_.find(element_count(shape));
  if (found == free_.end()) return Tensor<T>(std::move(shape));
  Buffer<T> storage = std::move(found->second);
  free_.erase(found);
  return Tensor<T>(std::move(shape), std::move(storage));
}

template <class T>
Var Tape<T>::record(Tensor<T> value, bool needs_gradient, Backward backward) {
  Node& node = add_node();
  node.own = std::move(value);
  node.value = &node.own;
  node.needs_gradient = needs_gradient;
  if (needs_gradient) node.backward = std::move(backward);
  return {static_cast<std::uint32_t>(nodes_.size() - 1)};
}

template <class T>
void Tape<T>::recycle(Tensor<T>&& tensor) {
  Buffer<T> storage = tensor.release();
  if (!storage.empty()) free_.emplace(storage.size(), std::move(storage));
}

template class Tape<float>;
template class Tape<double>;

}  // namespace godwit::ml
