// Counter-based random numbers: what is drawn depends only on (seed, stream, epoch, step) and on how many were drawn
// before, never on what else the program drew. So a resumed run draws what the uninterrupted one would have drawn,
// and the state to save is the epoch and the step.
//
// Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace godwit::ml {

using PhiloxBlock = std::array<std::uint32_t, 4>;
PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key);

class Random {
 public:
  // `stream` keeps purposes apart (initial weights, data order, dropout …).
  Random(std::uint64_t seed, std::uint32_t stream, std::uint32_t epoch = 0, std::uint32_t step = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, step, epoch, stream} {}

  std::uint32_t bits() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  // [0, 1), 53 bits.
  double uniform();
  // [low, high)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Mean 0, standard deviation 1 (Marsaglia's polar method).
  double normal();
  // 0 … n - 1 without bias (Lemire's method); n > 0.
  std::uint32_t below(std::uint32_t n);
  // Fisher and Yates; std::shuffle would depend on the library.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  PhiloxBlock counter_;
  PhiloxBlock block_{};
  unsigned used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace godwit::ml
