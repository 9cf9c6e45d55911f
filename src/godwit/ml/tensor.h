// A dense row-major array. The data start on a 64-byte boundary: vectorized sums walk memory in an order that depends
// on alignment, and a training run must give the same bits wherever its buffers happen to lie.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace godwit::ml {

inline constexpr std::size_t kAlignment = 64;

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{kAlignment})); }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, std::align_val_t{kAlignment}); }
  template <class U>
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator<U>&) noexcept {
    return true;
  }
};

template <class T>
using Buffer = std::vector<T, AlignedAllocator<T>>;

using Shape = std::vector<std::size_t>;

// The number of elements; 1 for the empty shape (a scalar).
inline std::size_t element_count(const Shape& shape) {
  std::size_t n = 1;
  for (std::size_t d : shape) n *= d;
  return n;
}

// Any number of dimensions; operations see a matrix whose columns are the last dimension.
template <class T>
class Tensor {
 public:
  Tensor() : shape_{0} {}
  explicit Tensor(Shape shape, T fill = T(0)) : shape_(std::move(shape)), data_(element_count(shape_), fill) {}
  // Takes over `storage`, resized to fit and with whatever values it has.
  Tensor(Shape shape, Buffer<T>&& storage) : shape_(std::move(shape)), data_(std::move(storage)) {
    data_.resize(element_count(shape_));
  }

  const Shape& shape() const { return shape_; }
  std::size_t size() const { return data_.size(); }
  std::size_t cols() const { return shape_.empty() ? 1 : shape_.back(); }
  std::size_t rows() const { return cols() == 0 ? 0 : size() / cols(); }
  bool empty() const { return data_.empty(); }

  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  std::span<T> values() { return data_; }
  std::span<const T> values() const { return data_; }
  T* row(std::size_t r) { return data_.data() + r * cols(); }
  const T* row(std::size_t r) const { return data_.data() + r * cols(); }
  T& operator[](std::size_t i) { return data_[i]; }
  T operator[](std::size_t i) const { return data_[i]; }
  T& at(std::size_t r, std::size_t c) { return data_[r * cols() + c]; }
  T at(std::size_t r, std::size_t c) const { return data_[r * cols() + c]; }

  void fill(T value) { data_.assign(data_.size(), value); }
  // Gives the storage away, to be used again; the tensor is empty afterwards.
  Buffer<T> release() {
    shape_ = {0};
    return std::move(data_);
  }
  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  Shape shape_;
  Buffer<T> data_;
};

}  // namespace godwit::ml
