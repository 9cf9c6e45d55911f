// How this module's sources see tensors as Eigen matrices. Included by a few .cpp files only: Eigen costs seconds each.
#pragma once

#include <Eigen/Core>

#include "godwit/ml/tensor.h"

namespace godwit::ml {

// Eigen would choose the blocking of its products, and with it the order of sums, by the caches of the processor that
// it finds. Fixed sizes keep the bits the same from machine to machine.
inline const bool kFixedBlocking = [] {
  Eigen::setCpuCacheSizes(32 << 10, 256 << 10, 4 << 20);
  return true;
}();

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Matrix = Eigen::Map<RowMajor<T>>;
template <class T>
using ConstMatrix = Eigen::Map<const RowMajor<T>>;
template <class T>
using Array = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::AlignedMax>;
template <class T>
using ConstArray = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::AlignedMax>;

inline Eigen::Index index(std::size_t n) {
  return static_cast<Eigen::Index>(n);
}

template <class T>
Matrix<T> matrix(Tensor<T>& t) {
  return {t.data(), index(t.rows()), index(t.cols())};
}
template <class T>
ConstMatrix<T> matrix(const Tensor<T>& t) {
  return {t.data(), index(t.rows()), index(t.cols())};
}
template <class T>
Array<T> array(Tensor<T>& t) {
  return {t.data(), index(t.size())};
}
template <class T>
ConstArray<T> array(const Tensor<T>& t) {
  return {t.data(), index(t.size())};
}

}  // namespace godwit::ml
