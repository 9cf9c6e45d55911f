// Which of a run's checkpoints stay. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "godwit/dag/rules.h"

namespace godwit::dag {

struct CheckpointValue {
  std::uint32_t epoch = 0;           // the last that it holds
  std::uint32_t before = 0;          // the last epoch of the run's checkpoint before it; 0: it is the first
  bool judged = true;                // its value is known, or it will never have one
  std::optional<double> value = {};  // of the rule's metric
};

// Whether each of them stays, in their order: by increasing epoch. What is not judged yet may be the best, so it stays.
// Of equally good ones the earlier is better.
std::vector<bool> kept_by(const KeepRule& rule, std::span<const CheckpointValue> checkpoints);

// The most that a run of jobs with these last epochs has at the same time: what the rule keeps, and the newest before
// it is verified. Evaluations that lag behind are not counted.
std::uint64_t most_kept(const KeepRule& rule, std::span<const std::uint32_t> last_epochs);

}  // namespace godwit::dag
