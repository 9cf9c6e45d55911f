#include "godwit/ml/random.h"

#include <cmath>

#include "godwit/ml/elementary.h"

namespace godwit::ml {

PhiloxBlock philox4x32(PhiloxBlock c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

void Random::refill() {
  block_ = philox4x32(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

double Random::uniform() {
  const std::uint64_t high = bits();
  const std::uint64_t low = bits();
  return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double x = uniform(-1, 1), y = uniform(-1, 1);
    const double s = x * x + y * y;
    if (s >= 1 || s == 0) continue;
    const double factor = std::sqrt(-2 * log(s) / s);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }
}

std::uint32_t Random::below(std::uint32_t n) {
  std::uint64_t product = std::uint64_t{bits()} * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t threshold = (0u - n) % n;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * n;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

}  // namespace godwit::ml
