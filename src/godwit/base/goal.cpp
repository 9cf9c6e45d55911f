#include "godwit/base/goal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "godwit/base/text.h"

namespace godwit {

Goal guess_goal(std::string_view metric) {
  static constexpr std::array<std::string_view, 15> kHigh = {
      "acc",      "accuracy", "auc",     "auroc", "f1",          "precision", "recall", "r2",
      "spearman", "pearson",  "kendall", "corr",  "correlation", "bleu",      "score"};
  std::string word;
  const std::string name = lower(metric) + '_';
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else {
      if (std::find(kHigh.begin(), kHigh.end(), word) != kHigh.end()) return Goal::highest;
      word.clear();
    }
  }
  return Goal::lowest;
}

bool better(Goal goal, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
  return goal == Goal::lowest ? a < b : a > b;
}

}  // namespace godwit
