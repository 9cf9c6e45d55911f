#include "godwit/base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

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

FieldHasher& FieldHasher::add(std::string_view field) {
  add(std::uint64_t{field.size()});
  bytes_ += field;
  return *this;
}

FieldHasher& FieldHasher::add(std::uint64_t field) {
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(field >> shift & 0xFF);
  return *this;
}

}  // namespace godwit
