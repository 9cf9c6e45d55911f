// Fast non-cryptographic hashes (XXH3) for ids and checksums. Stable: what they give for the same bytes is part of
// Godwit's file formats, since run ids and log checksums are made of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace godwit {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0);

// Lower-case hexadecimal, all digits: 16, 32, or the first `digits` of them.
std::string hex(std::uint64_t value, int digits = 16);
std::string hex(const Hash128& value);
// What hex() gave; nullopt for anything else.
std::optional<Hash128> hash128_from(std::string_view digits);

// Hashes a sequence of fields so that their borders count: ("ab", "c") differs from ("a", "bc").
class FieldHasher {
 public:
  FieldHasher& add(std::string_view field);
  FieldHasher& add(std::uint64_t field);
  std::uint64_t digest64() const { return hash64(bytes_); }
  Hash128 digest128() const { return hash128(bytes_); }

 private:
  std::string bytes_;
};

// hash128 of what comes in pieces: of files that do not fit into memory.
class StreamHasher {
 public:
  StreamHasher();
  ~StreamHasher();
  StreamHasher(const StreamHasher&) = delete;
  StreamHasher& operator=(const StreamHasher&) = delete;
  StreamHasher& add(std::string_view bytes);
  Hash128 digest128() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace godwit
