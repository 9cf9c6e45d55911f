#include "godwit/base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>

namespace godwit {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 hash128(std::string_view bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.high64, hash.low64};
}

std::string hex(std::uint64_t value, int digits) {
  return fmt::format("{:016x}", value).substr(0, static_cast<std::size_t>(digits));
}

std::string hex(const Hash128& value) {
  return hex(value.high) + hex(value.low);
}

std::optional<Hash128> hash128_from(std::string_view digits) {
  if (digits.size() != 32) return std::nullopt;
  Hash128 out;
  for (std::uint64_t* half : {&out.high, &out.low}) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + 16, *half, 16);
    if (error != std::errc() || end != digits.data() + 16) return std::nullopt;
    digits.remove_prefix(16);
  }
  return out;
}

FieldHasher& FieldHasher::add(std::string_view field) {
  add(std::uint64_t{field.size()});
  bytes_ += field;
  return *this;
}

FieldHasher& FieldHasher::add(std::uint64_t field) {
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(field >> shift & 0xFF);
  return *this;
}

struct StreamHasher::State {
  XXH3_state_t* of = XXH3_createState();
  State() = default;
  ~State() { XXH3_freeState(of); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

StreamHasher::StreamHasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(state_->of);
}

StreamHasher::~StreamHasher() = default;

StreamHasher& StreamHasher::add(std::string_view bytes) {
  XXH3_128bits_update(state_->of, bytes.data(), bytes.size());
  return *this;
}

Hash128 StreamHasher::digest128() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->of);
  return {hash.high64, hash.low64};
}

}  // namespace godwit
