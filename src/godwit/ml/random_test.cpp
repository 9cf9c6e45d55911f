#include "godwit/ml/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace godwit::ml {

TEST_CASE("Philox4x32-10 gives the published answers") {
  // The known-answer vectors of Random123 (Salmon et al. 2011).
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("draws depend on seed, stream, epoch and step alone") {
  const auto first = [](Random r) { return r.bits(); };
  CHECK(first(Random(1, 2, 3, 4)) == first(Random(1, 2, 3, 4)));
  for (const Random& other : {Random(2, 2, 3, 4), Random(1, 3, 3, 4), Random(1, 2, 4, 4), Random(1, 2, 3, 5)})
    CHECK(first(other) != first(Random(1, 2, 3, 4)));
  CHECK(first(Random(1, 0)) != first(Random(1ull << 32 | 1, 0)));
}

TEST_CASE("distributions have their moments") {
  Random random(42, 0);
  const int n = 100000;
  double sum = 0, squares = 0, uniform = 0;
  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    uniform += random.uniform();
    ++counts[random.below(7)];
  }
  CHECK(std::abs(sum / n) < 0.012);
  CHECK(squares / n == doctest::Approx(1).epsilon(0.015));
  CHECK(uniform / n == doctest::Approx(0.5).epsilon(0.01));
  for (int count : counts) CHECK(count == doctest::Approx(n / 7.0).epsilon(0.03));
}

TEST_CASE("a shuffle is a permutation") {
  std::vector<int> items(50), sorted(50);
  std::iota(items.begin(), items.end(), 0);
  sorted = items;
  Random(3, 0).shuffle(std::span(items));
  CHECK(items != sorted);
  std::sort(items.begin(), items.end());
  CHECK(items == sorted);
}

}  // namespace godwit::ml
