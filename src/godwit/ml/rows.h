// Arithmetic on one row of numbers, shared by the operations.
#pragma once

#include <array>
#include <cstddef>

#include "godwit/ml/elementary.h"

namespace godwit::ml {

// Sums run in eight interleaved parts: that vectorizes without leave to reorder, and in the same order in every build.
template <class T>
using Parts = std::array<T, 8>;

template <class T>
T sum_parts(const Parts<T>& part) {
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

template <class T>
T sum_row(const T* x, std::size_t n) {
  Parts<T> part{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) part[k] += x[i + k];
  for (std::size_t k = 0; i < n; ++i, ++k) part[k] += x[i];
  return sum_parts(part);
}

template <class T>
T dot_row(const T* x, const T* y, std::size_t n) {
  Parts<T> part{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) part[k] += x[i + k] * y[i + k];
  for (std::size_t k = 0; i < n; ++i, ++k) part[k] += x[i] * y[i];
  return sum_parts(part);
}

// x += factor * y
template <class T>
void add_scaled_row(T* x, const T* y, T factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] += factor * y[i];
}

// The largest, or NaN where a NaN is among them and met first.
template <class T>
T largest_in_row(const T* x, std::size_t n) {
  Parts<T> part;
  part.fill(x[0]);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) part[k] = x[i + k] > part[k] ? x[i + k] : part[k];
  for (; i < n; ++i) part[0] = x[i] > part[0] ? x[i] : part[0];
  T best = part[0];
  for (T p : part) best = p > best ? p : best;
  return best;
}

// What a softmax divided by: the sum of e^(x - largest).
template <class T>
struct SoftmaxScale {
  T largest, total;
};

// x becomes softmax(x), n > 0. What is more than 87 (float) below the largest counts as if it were 87 below.
template <class T>
SoftmaxScale<T> softmax_row(T* x, std::size_t n) {
  const T largest = largest_in_row(x, n);
  for (std::size_t i = 0; i < n; ++i) x[i] = exp(x[i] - largest);
  const T total = sum_row(x, n);
  const T factor = T(1) / total;
  for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
  return {largest, total};
}

// From the gradient d of a softmax p to factor * the gradient of its argument, in place of d.
template <class T>
void softmax_row_backward(T* d, const T* p, T factor, std::size_t n) {
  const T along = dot_row(d, p, n);
  for (std::size_t i = 0; i < n; ++i) d[i] = factor * p[i] * (d[i] - along);
}

}  // namespace godwit::ml
