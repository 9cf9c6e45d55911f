// Which way a metric is better.
#pragma once

#include <cstdint>
#include <string_view>

namespace godwit {

enum class Goal : std::uint8_t { lowest, highest };

// Guessed from the words of the name: "accuracy", "spearman", "auc", "r2" … are better high, everything else low.
Goal guess_goal(std::string_view metric);

// Whether a is better than b. What is not a number (a model that diverged) is worse than every number.
bool better(Goal goal, double a, double b);

}  // namespace godwit
