#include "godwit/base/hash.h"

#include <doctest/doctest.h>

using namespace godwit;

// Known values: they are in files and in run ids, so they may never change.
TEST_CASE("hashes are XXH3's") {
  CHECK(hex(hash64("")) == "2d06800538d394c2");
  CHECK(hex(hash128("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(hash64("a", 1) != hash64("a"));
}

TEST_CASE("hex shows all digits or the first few") {
  CHECK(hex(std::uint64_t{0x1F}) == "000000000000001f");
  CHECK(hex(std::uint64_t{0xD35B3EA900000000}, 8) == "d35b3ea9");
}

TEST_CASE("the borders of fields count") {
  CHECK(FieldHasher().add("ab").add("c").digest64() != FieldHasher().add("a").add("bc").digest64());
  CHECK(FieldHasher().add("a").digest128() == FieldHasher().add("a").digest128());
}

TEST_CASE("hashes of pieces are those of the whole, and come back from their digits") {
  StreamHasher hasher;
  hasher.add("wh").add("").add("ole");
  CHECK(hasher.digest128() == hash128("whole"));
  CHECK(hash128_from(hex(hash128("whole"))) == hash128("whole"));
  CHECK(!hash128_from("99aa06d3014798d8"));
  CHECK(!hash128_from("99aa06d3014798d86001c324468d497x"));
}
