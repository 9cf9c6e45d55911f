#include "godwit/dag/keep_rule.h"

#include <doctest/doctest.h>

#include <limits>

namespace godwit::dag {
namespace {

// Checkpoints at 2, 4, 6 … with these values; the epochs that stay.
std::vector<std::uint32_t> kept(const KeepRule& rule, const std::vector<std::optional<double>>& values) {
  std::vector<CheckpointValue> all;
  for (std::uint32_t i = 0; i < values.size(); ++i) all.push_back({2 * i + 2, 2 * i, true, values[i]});
  const std::vector<bool> stays = kept_by(rule, all);
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (stays[i]) out.push_back(all[i].epoch);
  return out;
}

using Epochs = std::vector<std::uint32_t>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("the last, the best, and those at every so-manyth epoch stay") {
  const Metric loss{"val_loss", Goal::lowest};
  const Metric accuracy{"accuracy", Goal::highest};
  CHECK(kept({1, 0, 0, {}}, {1, 2, 3, 4}) == Epochs{8});
  CHECK(kept({2, 0, 0, {}}, {1, 2, 3, 4}) == Epochs{6, 8});
  CHECK(kept({1, 1, 0, loss}, {4, 1, 3, 4}) == Epochs{4, 8});
  CHECK(kept({1, 2, 0, accuracy}, {4, 1, 3, 2}) == Epochs{2, 6, 8});
  CHECK(kept({9, 0, 0, {}}, {1, 2}) == Epochs{2, 4});
  CHECK(kept({1, 0, 0, {}}, {}) == Epochs{});
  // Where no checkpoint is at the fifth epoch, the next one is.
  CHECK(kept({1, 0, 5, {}}, {1, 1, 1, 1, 1, 1}) == Epochs{6, 10, 12});
}

TEST_CASE("of equally good ones the earlier is the best; what is no number is never") {
  const Metric loss{"val_loss", Goal::lowest};
  CHECK(kept({1, 1, 0, loss}, {2, 1, 1, 5}) == Epochs{4, 8});
  CHECK(kept({1, 1, 0, loss}, {kNaN, kNaN, 9, kNaN}) == Epochs{6, 8});
  CHECK(kept({1, 1, 0, loss}, {kNaN, kNaN}) == Epochs{4});
  CHECK(kept({1, 1, 0, loss}, {std::nullopt, 3, std::nullopt}) == Epochs{4, 6});
}

TEST_CASE("what is not judged yet may be the best") {
  const KeepRule rule{1, 1, 0, Metric{"eval.loss", Goal::lowest}};
  const std::vector<CheckpointValue> all{{1, 0, true, 0.5}, {2, 1, false, {}}, {3, 2, true, 0.7}, {4, 3, true, 0.9}};
  CHECK(kept_by(rule, all) == std::vector<bool>{true, true, false, true});
}

TEST_CASE("the most that is there at once") {
  const Epochs epochs{5, 10, 15, 20, 25, 30};
  CHECK(most_kept({1, 0, 0, {}}, epochs) == 2);
  CHECK(most_kept({2, 1, 0, {}}, epochs) == 4);
  CHECK(most_kept({1, 0, 10, {}}, epochs) == 5);
  CHECK(most_kept({9, 9, 9, {}}, epochs) == 6);
}

}  // namespace
}  // namespace godwit::dag
