// What the lines of metrics that jobs write hold beside results.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace godwit {

// "epoch", "seconds" and their like, and names that begin with '_' (Godwit's own): no results, so that comparisons
// show them only where they are asked for.
inline bool is_bookkeeping(std::string_view key) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"epoch", "step", "iteration", "batch", "seconds", "timestamp", "rows"});
  return key.empty() || key.front() == '_' || std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

}  // namespace godwit
