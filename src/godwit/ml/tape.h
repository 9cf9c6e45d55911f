// Reverse-mode differentiation on a tape (Linnainmaa 1970; "automatic differentiation", Griewank & Walther, chapter 3).
//
// An operation of ops.h computes its value at once and leaves on the tape how to carry a gradient back. backward()
// walks the tape once from the end. One tape serves many steps: reset() forgets the operations and keeps their memory.
// Instantiated for float (training) and double (gradient checks, curvature).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "godwit/ml/tensor.h"

namespace godwit::ml {

// A value on a tape.
struct Var {
  std::uint32_t id = 0;
};

template <class T>
class Tape {
 public:
  // Adds to the gradients of an operation's inputs; `self` is its result, whose gradient is complete.
  using Backward = std::function<void(Tape&, Var self)>;

  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A value that needs no gradient.
  Var constant(Tensor<T> value);
  // A value kept elsewhere, whose gradient is *added* to `gradient` (same shape) by backward(). Both must outlive the
  // next reset().
  Var parameter(const Tensor<T>& value, Tensor<T>& gradient);
  // The same without a gradient: frozen weights.
  Var frozen(const Tensor<T>& value);

  const Tensor<T>& value(Var v) const { return *nodes_[v.id].value; }
  bool needs_gradient(Var v) const { return nodes_[v.id].needs_gradient; }
  // The gradient gathered so far; zeros at first.
  Tensor<T>& gradient(Var v);

  // Fills in the gradients of everything that `loss`, a value of one element, depends on. Once per reset().
  void backward(Var loss);
  // Forgets every Var.
  void reset();

  // For operations: memory for a result or for what the way back needs (contents undefined), and the record of one.
  Tensor<T> scratch(Shape shape);
  Var record(Tensor<T> value, bool needs_gradient, Backward backward);
  // Gives memory back before reset() does.
  void recycle(Tensor<T>&& tensor);

 private:
  struct Node {
    Tensor<T> own;
    Tensor<T> own_gradient;
    const Tensor<T>* value = nullptr;
    Tensor<T>* gradient = nullptr;
    bool needs_gradient = false;
    Backward backward;
  };

  Node& add_node();

  std::deque<Node> nodes_;  // a node never moves: `value` may point into it
  std::multimap<std::size_t, Buffer<T>> free_;
};

extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace godwit::ml
