#include "godwit/engine/early_stop.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace godwit::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<Exhausted> after(const dag::EarlyStopRule& rule, const std::vector<double>& values) {
  std::map<std::uint32_t, double> by_epoch;
  for (std::uint32_t i = 0; i < values.size(); ++i) by_epoch[i + 1] = values[i];
  return exhausted(rule, by_epoch);
}

TEST_CASE("a run is stopped when so many epochs have brought nothing") {
  const dag::EarlyStopRule rule{{"val_loss", Goal::lowest}, 3, 0};
  CHECK(!after(rule, {}));
  CHECK(!after(rule, {5}));
  CHECK(!after(rule, {5, 4, 4, 4}));
  const auto stop = after(rule, {5, 4, 4, 6, 4});
  REQUIRE(stop);
  CHECK(stop->epoch == 5);
  CHECK(stop->best_epoch == 2);
  CHECK(stop->best == 4);
  // What counts is where it stands now, not that it paused on the way.
  CHECK(!after(rule, {5, 4, 4, 4, 4, 3}));
}

TEST_CASE("improvements smaller than min_delta are none") {
  const dag::EarlyStopRule rule{{"val_loss", Goal::lowest}, 2, 0.1};
  CHECK(after(rule, {5, 4.95, 4.91}));
  CHECK(!after(rule, {5, 4.95, 4.85}));  // against the last improvement, not against the epoch before
  const dag::EarlyStopRule high{{"accuracy", Goal::highest}, 2, 0.1};
  CHECK(after(high, {0.5, 0.55, 0.59}));
  CHECK(!after(high, {0.5, 0.55, 0.65}));
}

TEST_CASE("what is not a number improves nothing") {
  const dag::EarlyStopRule rule{{"val_loss", Goal::lowest}, 2, 0};
  CHECK(!after(rule, {kNaN}));
  CHECK(after(rule, {kNaN, kNaN})->best_epoch == 0);
  CHECK(after(rule, {1, kNaN, kNaN}));
  CHECK(!after(rule, {kNaN, 1, kNaN}));
  CHECK(after(rule, {1, kInfinity, kInfinity}));
}

TEST_CASE("an evaluation's epochs need not follow each other") {
  const dag::EarlyStopRule rule{{"eval.loss", Goal::lowest}, 10, 0};
  CHECK(!exhausted(rule, {{5, 3.0}, {10, 4.0}}));
  CHECK(exhausted(rule, {{5, 3.0}, {10, 4.0}, {15, 3.5}})->epoch == 15);
}

}  // namespace
}  // namespace godwit::engine
