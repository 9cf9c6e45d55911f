#include "godwit/engine/asha.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace godwit::engine {
namespace {

dag::AshaRule rule(std::uint32_t reduction, std::uint32_t grace = 1, Goal goal = Goal::lowest) {
  return {{"val_loss", goal}, reduction, grace, 0};
}

constexpr auto kAnywhere = [](dag::RunId) { return true; };

// The run that a free place gets, if any; it is promoted.
std::optional<dag::RunId> next(Asha& asha) {
  const auto candidate = asha.promotable(kAnywhere);
  if (!candidate) return std::nullopt;
  asha.promote(candidate->run, candidate->rung);
  return candidate->run;
}

TEST_CASE("rungs lie at r, rη, rη² … up to R") {
  using Jobs = std::vector<std::uint32_t>;
  // The paper's Figure 1: r = 1, R = 9, η = 3 has three rungs.
  CHECK(rungs_of(rule(3), 9) == Jobs{1, 3, 9});
  // Its Section 4: R = 256 with η = 4 and r = R/256 goes through five; r = 64 through two.
  CHECK(rungs_of(rule(4), 256) == Jobs{1, 4, 16, 64, 256});
  CHECK(rungs_of(rule(4, 64), 256) == Jobs{64, 256});
  CHECK(rungs_of(rule(3, 2), 5) == Jobs{2});
  CHECK(rungs_of(rule(3, 2), 1) == Jobs{});
}

// Figure 1 of the paper: bracket 0 of synchronous halving with n = 9, r = 1, R = 9, η = 3 runs 9, 3 and 1
// configurations in its rungs. Where results come one by one and all are in, the asynchronous rule ends the same.
TEST_CASE("nine configurations come to three and one, as in the published bracket") {
  Asha asha(rule(3), 3);
  for (dag::RunId run = 0; run < 9; ++run) asha.record(run, 0, 9.0 - run);  // the later ones are better
  std::vector<dag::RunId> second;
  while (const auto run = next(asha)) second.push_back(*run);
  CHECK(second == std::vector<dag::RunId>{8, 7, 6});
  for (const dag::RunId run : second) asha.record(run, 1, run == 7 ? 0.1 : 1.0);
  CHECK(next(asha) == 7u);
  CHECK(!next(asha));
  asha.record(7, 2, 0.05);
  CHECK(!next(asha));  // from the highest rung nobody goes on
  CHECK(asha.size(0) == 9);
  CHECK(asha.promoted(0) == 3);
  CHECK(asha.promoted(1) == 1);
}

// Figure 2 of the paper: with η = 3, a configuration goes up as soon as it is among the best third of those that have
// arrived, long before the rung is full; then another one, which a synchronous rung would have known to be worse.
TEST_CASE("a run is promoted as soon as it is in the best third of what has arrived") {
  Asha asha(rule(3), 3);
  asha.record(0, 0, 5);
  CHECK(!next(asha));
  asha.record(1, 0, 3);
  CHECK(!next(asha));  // ⌊2/3⌋ = 0
  asha.record(2, 0, 4);
  CHECK(next(asha) == 1u);  // ⌊3/3⌋ = 1
  CHECK(!next(asha));
  asha.record(3, 0, 1);  // better, but there is room for one only, and a promotion is not taken back
  CHECK(next(asha) == 3u);
  CHECK(!next(asha));
  asha.record(4, 0, 9);
  asha.record(5, 0, 9);
  CHECK(!next(asha));  // ⌊6/3⌋ = 2: both of the best two have gone
  for (dag::RunId run = 6; run < 9; ++run) asha.record(run, 0, 9);
  CHECK(next(asha) == 2u);
}

TEST_CASE("the highest rung is asked first") {
  Asha asha(rule(2), 3);
  for (dag::RunId run = 0; run < 4; ++run) asha.record(run, 0, run);
  CHECK(next(asha) == 0u);
  CHECK(next(asha) == 1u);
  asha.record(0, 1, 7);
  asha.record(1, 1, 6);
  asha.record(4, 0, -1);
  asha.record(5, 0, -2);
  CHECK(next(asha) == 1u);  // from rung 1
  CHECK(next(asha) == 5u);  // then the best of rung 0
  CHECK(next(asha) == 4u);
}

TEST_CASE("high values where they are better; what is no number is worst; the earlier of equal ones") {
  Asha high(rule(2, 1, Goal::highest), 2);
  high.record(0, 0, 0.5);
  high.record(1, 0, std::numeric_limits<double>::quiet_NaN());
  CHECK(next(high) == 0u);
  high.record(2, 0, std::numeric_limits<double>::quiet_NaN());
  high.record(3, 0, 0.1);
  CHECK(next(high) == 3u);
  Asha equal(rule(2), 2);
  for (dag::RunId run = 0; run < 4; ++run) equal.record(3 - run, 0, 1.0);
  CHECK(next(equal) == 3u);
  CHECK(next(equal) == 2u);
}

TEST_CASE("what is not allowed at a place is passed over") {
  Asha asha(rule(2), 2);
  for (dag::RunId run = 0; run < 4; ++run) asha.record(run, 0, run);
  CHECK(asha.promotable([](dag::RunId run) { return run != 0; })->run == 1u);
  CHECK(!asha.promotable([](dag::RunId run) { return run > 1; }));
}

// Against the definition, computed the slow way.
TEST_CASE("the same as sorting every time, for any order of arrival") {
  std::uint64_t state = 12345;
  const auto random = [&] { return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33; };
  for (const std::uint32_t reduction : {2u, 3u, 4u}) {
    Asha asha(rule(reduction), 2);
    std::vector<std::pair<double, dag::RunId>> all;
    std::set<dag::RunId> gone;
    for (dag::RunId run = 0; run < 300; ++run) {
      const double value = static_cast<double>(random() % 50);
      asha.record(run, 0, value);
      all.emplace_back(value, run);
      std::sort(all.begin(), all.end());
      std::optional<dag::RunId> expected;
      for (std::size_t i = 0; i < all.size() / reduction && !expected; ++i)
        if (!gone.contains(all[i].second)) expected = all[i].second;
      CHECK(next(asha) == expected);
      if (expected) gone.insert(*expected);
    }
  }
}

}  // namespace
}  // namespace godwit::engine
