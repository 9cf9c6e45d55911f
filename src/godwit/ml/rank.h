// Rank correlation.
#pragma once

#include <span>
#include <vector>

namespace godwit::ml {

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);
// Spearman's rho: the correlation of the ranks. 0 where one side is constant. Throws Error for different lengths.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace godwit::ml
