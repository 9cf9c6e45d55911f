// How much of the spread between runs comes from the seed, the sites and the rest.
//
// A mixed model, fitted by restricted maximum likelihood (Patterson and Thompson, Biometrika 58, 1971):
//
//   y_r = mean of r's cell + u_seed(r) + sum over sites s of w_rs v_s + e_r
//
// with independent u ~ N(0, seed), v ~ N(0, site), e ~ N(0, rest). A run trains at several sites, so it belongs to each
// by the share w_rs of its epochs there (multiple membership: Browne, Goldstein and Rasbash, Statistical Modelling 1,
// 2001).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace godwit::report {

struct Observation {
  double value = 0;
  std::size_t cell = 0;        // runs of one cell have one mean: their values of variables are the same
  std::size_t seed = 0;        // runs of one seed share its luck
  std::vector<double> shares;  // of each site; as many in every observation
};

struct VarianceComponents {
  double seed = 0, site = 0, rest = 0;  // variances, in the square of the metric's unit
  std::size_t observations = 0, cells = 0, seeds = 0, sites = 0;
  double criterion = 0;  // -2 times the logarithm of the restricted likelihood, at its maximum

  double total() const { return seed + site + rest; }
};

// Cells beyond this are not fitted: their means would be most of the data.
inline constexpr std::size_t kMostCells = 100;

// `cell` and `seed` count from 0. nullopt where the parts cannot be told apart: fewer than two observations more than
// cells, no seed with two observations, no two observations of a cell with different shares, more than kMostCells
// cells, or values that do not vary within a cell.
std::optional<VarianceComponents> estimate_components(std::span<const Observation> observations);
// The same without sites: seeds and the rest (one-way; the balanced case is the analysis of variance).
std::optional<VarianceComponents> estimate_seed_component(std::span<const Observation> observations);

}  // namespace godwit::report
