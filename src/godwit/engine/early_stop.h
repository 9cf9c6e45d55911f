// When a run has stopped getting better. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "godwit/dag/rules.h"

namespace godwit::engine {

struct Exhausted {
  std::uint32_t epoch = 0;       // the last that was told of
  std::uint32_t best_epoch = 0;  // the last that was an improvement; 0: there was none
  double best = 0;               // … its value
};

// Values by epoch. An epoch is an improvement where it is better than every one before by more than the rule's
// min_delta; what is not a number never is. Nothing as long as the last improvement is less than `patience` epochs ago.
std::optional<Exhausted> exhausted(const dag::EarlyStopRule& rule, const std::map<std::uint32_t, double>& values);

}  // namespace godwit::engine
