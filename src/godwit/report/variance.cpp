#include "godwit/report/variance.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

namespace godwit::report {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The restricted likelihood as a function of the two ratios seed/rest and site/rest.
//
// With A = I + a ZZ' for the seeds, which is block diagonal with blocks I + aJ, and M = [W X y], all that is needed of
// the observations is M'A⁻¹M = M'M - sum over seeds of a/(1 + a m) s s', where s is the sum of the seed's m rows: seeds
// of one size are summed once. Sites come in by Woodbury's identity. An evaluation costs the same for any number of
// runs.
class RestrictedLikelihood {
 public:
  RestrictedLikelihood(std::span<const Observation> observations, std::size_t sites)
      : n_(observations.size()), sites_(static_cast<Eigen::Index>(sites)) {
    double mean = 0;
    for (const Observation& o : observations) {
      cells_ = std::max(cells_, static_cast<Eigen::Index>(o.cell) + 1);
      mean += o.value / static_cast<double>(n_);
    }
    const Eigen::Index width = sites_ + cells_ + 1;
    gram_ = MatrixXd::Zero(width, width);
    std::map<std::size_t, std::pair<std::size_t, VectorXd>> seeds;  // size, sum of rows
    for (const Observation& o : observations) {
      VectorXd row = VectorXd::Zero(width);
      for (Eigen::Index s = 0; s < sites_; ++s) row[s] = o.shares[static_cast<std::size_t>(s)];
      row[sites_ + static_cast<Eigen::Index>(o.cell)] = 1;
      row[width - 1] = o.value - mean;
      gram_.noalias() += row * row.transpose();
      auto& [size, sum] = seeds.try_emplace(o.seed, 0, VectorXd::Zero(width)).first->second;
      ++size;
      sum += row;
    }
    for (const auto& [seed, entry] : seeds) {
      Size& of = sizes_.try_emplace(entry.first, Size{0, MatrixXd::Zero(width, width)}).first->second;
      ++of.seeds;
      of.sums.noalias() += entry.second * entry.second.transpose();
    }
    seeds_ = seeds.size();
  }

  struct Value {
    double criterion = std::numeric_limits<double>::infinity();
    double rest = 0;
  };

  Value at(double seed_ratio, double site_ratio) const {
    MatrixXd g = gram_;
    double log_determinant = 0;
    for (const auto& [size, of] : sizes_) {
      const auto m = static_cast<double>(size);
      g.noalias() -= seed_ratio / (1 + seed_ratio * m) * of.sums;
      log_determinant += static_cast<double>(of.seeds) * std::log1p(seed_ratio * m);
    }
    const Eigen::Index rest = cells_ + 1;
    MatrixXd b = g.bottomRightCorner(rest, rest);
    if (sites_ > 0 && site_ratio > 0) {
      const Eigen::LLT<MatrixXd> inner(MatrixXd::Identity(sites_, sites_) +
                                       site_ratio * g.topLeftCorner(sites_, sites_));
      const MatrixXd c = g.topRightCorner(sites_, rest);
      b.noalias() -= site_ratio * c.transpose() * inner.solve(c);
      log_determinant += log_det(inner);
    }
    const Eigen::LLT<MatrixXd> fixed(b.topLeftCorner(cells_, cells_));
    const VectorXd k = b.topRightCorner(cells_, 1);
    const double squares = b(cells_, cells_) - k.dot(fixed.solve(k));
    const double df = degrees();
    if (fixed.info() != Eigen::Success || squares <= 0) return {};
    const double variance = squares / df;
    return {log_determinant + log_det(fixed) + df * (1 + std::log(2 * std::numbers::pi * variance)), variance};
  }

  double degrees() const { return static_cast<double>(n_) - static_cast<double>(cells_); }
  std::size_t cells() const { return static_cast<std::size_t>(cells_); }
  std::size_t seeds() const { return seeds_; }
  std::size_t largest_seed() const { return sizes_.rbegin()->first; }

  // Whether the values vary within cells, and (where sites are asked for) the shares do: the squares that cells leave.
  bool varies() const { return left_by_cells(gram_.rows() - 1); }
  bool sites_vary() const {
    for (Eigen::Index s = 0; s < sites_; ++s)
      if (left_by_cells(s)) return true;
    return false;
  }

 private:
  struct Size {
    std::size_t seeds = 0;
    MatrixXd sums;
  };

  static double log_det(const Eigen::LLT<MatrixXd>& factored) {
    return 2 * MatrixXd(factored.matrixL()).diagonal().array().log().sum();
  }

  bool left_by_cells(Eigen::Index column) const {
    double squares = gram_(column, column);
    for (Eigen::Index c = 0; c < cells_; ++c)
      squares -= std::pow(gram_(column, sites_ + c), 2) / gram_(sites_ + c, sites_ + c);
    return squares > 1e-12 * std::max(gram_(column, column), std::numeric_limits<double>::min());
  }

  std::size_t n_;
  Eigen::Index sites_;
  Eigen::Index cells_ = 0;
  MatrixXd gram_;
  std::map<std::size_t, Size> sizes_;
  std::size_t seeds_ = 0;
};

// Ratios of variances from 0 to 1e10 as places in [0, 1]: of standard deviations, evenly by their logarithm beyond 1.
// The square is flat at 0, as the likelihood is.
constexpr double kEnd = 1;
double ratio_at(double place) {
  constexpr double kLogOfMost = 11.5;  // e^11.5 is about 100,000
  return std::pow(std::expm1(kLogOfMost * place), 2);
}

// The least value of a function over [low, high] and where it is (Brent, Algorithms for Minimization without
// Derivatives, 1973), its ends looked at too, since a variance may be 0.
std::pair<double, double> least(const auto& function, double low, double high) {
  constexpr int kBits = 26;
  auto best = boost::math::tools::brent_find_minima(function, low, high, kBits);
  for (const double end : {low, high})
    if (const double value = function(end); value <= best.second) best = {end, value};
  return best;
}

struct Place {
  double seed = 0, site = 0;
};

// A grid finds the valley, nested one-dimensional searches its floor.
Place maximum(const RestrictedLikelihood& likelihood, bool with_sites) {
  constexpr int kGrid = 12;
  const auto criterion = [&](double seed, double site) {
    return likelihood.at(ratio_at(seed), ratio_at(site)).criterion;
  };
  Place best;
  double lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kGrid; ++i)
    for (int j = 0; j <= (with_sites ? kGrid : 0); ++j) {
      const Place place{kEnd * i / kGrid, kEnd * j / kGrid};
      if (const double value = criterion(place.seed, place.site); value < lowest) lowest = value, best = place;
    }
  const auto around = [](double place) {
    const double step = kEnd / kGrid;
    return std::pair(std::max(0.0, place - step), std::min(kEnd, place + step));
  };
  const auto [seed_low, seed_high] = around(best.seed);
  const auto best_seed = [&, low = seed_low, high = seed_high](double site) {
    return least([&](double seed) { return criterion(seed, site); }, low, high);
  };
  if (with_sites) {
    const auto [site_low, site_high] = around(best.site);
    best.site = least([&](double site) { return best_seed(site).second; }, site_low, site_high).first;
  }
  best.seed = best_seed(best.site).first;
  return best;
}

// Of the means of seeds around those of their cells.
std::optional<double> variance_between_seeds(std::span<const Observation> observations) {
  struct Mean {
    double sum = 0, n = 0;
    void add(double value) { sum += value, n += 1; }
    double value() const { return sum / n; }
  };
  std::map<std::pair<std::size_t, std::size_t>, Mean> seeds;  // by cell and seed
  for (const Observation& o : observations) seeds[{o.cell, o.seed}].add(o.value);
  std::map<std::size_t, Mean> cells;
  for (const auto& [key, seed] : seeds) cells[key.first].add(seed.value());
  if (seeds.size() <= cells.size()) return std::nullopt;
  double squares = 0;
  for (const auto& [key, seed] : seeds) squares += std::pow(seed.value() - cells[key.first].value(), 2);
  return squares / static_cast<double>(seeds.size() - cells.size());
}

std::optional<VarianceComponents> estimate(std::span<const Observation> observations, bool with_sites) {
  if (observations.empty()) return std::nullopt;
  const std::size_t sites = with_sites ? observations.front().shares.size() : 0;
  for (const Observation& o : observations)
    if (o.cell >= kMostCells) return std::nullopt;
  const RestrictedLikelihood likelihood(observations, sites);
  if (likelihood.degrees() < 2 || likelihood.largest_seed() < 2 || !likelihood.varies()) return std::nullopt;
  if (with_sites && !likelihood.sites_vary()) return std::nullopt;
  const Place place = maximum(likelihood, with_sites);
  const auto [criterion, rest] = likelihood.at(ratio_at(place.seed), ratio_at(place.site));
  if (!std::isfinite(criterion)) return std::nullopt;
  VarianceComponents found{rest * ratio_at(place.seed), rest * ratio_at(place.site), rest,  observations.size(),
                           likelihood.cells(),          likelihood.seeds(),          sites, criterion};
  if (place.seed < kEnd && place.site < kEnd) return found;
  // The rest is below a ten-thousand-millionth: nothing, but for rounding. Then the likelihood has no maximum, and the
  // runs of a seed are one observation.
  const auto between = variance_between_seeds(observations);
  if (place.seed < kEnd || !between) return std::nullopt;
  found.seed = *between;
  found.site = found.rest = 0;
  return found;
}

}  // namespace

std::optional<VarianceComponents> estimate_components(std::span<const Observation> observations) {
  return estimate(observations, true);
}

std::optional<VarianceComponents> estimate_seed_component(std::span<const Observation> observations) {
  return estimate(observations, false);
}

}  // namespace godwit::report
