#include "godwit/report/moves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "godwit/report/comparison.h"
#include "godwit/report/distributions.h"

namespace godwit::report {
namespace {

constexpr double kLevel = 0.95;

const Series* primary_series(const Comparison& comparison, std::size_t run) {
  return find_series(comparison.experiment.runs[run], comparison.metrics[comparison.primary]);
}

// --- bands ------------------------------------------------------------------------------------------------------

using Cells = std::map<std::string, std::vector<double>>;  // by values, the baseline runs' at one epoch

std::map<int, Cells> baseline_by_epoch(const Comparison& comparison) {
  std::map<int, Cells> epochs;
  const auto& runs = comparison.experiment.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Series* series = runs[i].baseline && runs[i].counts() ? primary_series(comparison, i) : nullptr;
    if (series == nullptr) continue;
    const std::string cell = values_label(comparison, runs[i]);
    for (const Point& point : series->points)
      if (std::isfinite(point.value)) epochs[point.epoch][cell].push_back(point.value);
  }
  return epochs;
}

struct EpochBand {
  double sd = 0;
  double df = 0;
  std::map<std::string, Summary> cells;

  double scale(const Summary& cell) const { return sd * std::sqrt(1 + 1 / static_cast<double>(cell.n)); }
};

std::map<int, EpochBand> fit_bands(const Comparison& comparison) {
  std::map<int, EpochBand> bands;
  for (const auto& [epoch, cells] : baseline_by_epoch(comparison)) {
    EpochBand band;
    double squares = 0;
    for (const auto& [name, values] : cells) {
      const Summary cell = summarize(values);
      squares += cell.sd * cell.sd * static_cast<double>(cell.n - 1);
      band.df += static_cast<double>(cell.n - 1);
      band.cells.emplace(name, cell);
    }
    if (band.df < 2 || squares <= 0) continue;
    band.sd = std::sqrt(squares / band.df);
    bands.emplace(epoch, std::move(band));
  }
  return bands;
}

// Calls for each value of a migrated run that has a band.
void each_checked(const Comparison& comparison, const std::map<int, EpochBand>& bands, const auto& fn) {
  const auto& runs = comparison.experiment.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Series* series = !runs[i].baseline && runs[i].counts() ? primary_series(comparison, i) : nullptr;
    if (series == nullptr) continue;
    const std::string name = values_label(comparison, runs[i]);
    for (const Point& point : series->points) {
      const auto band = bands.find(point.epoch);
      if (band == bands.end() || !std::isfinite(point.value)) continue;
      const auto cell = band->second.cells.find(name);
      if (cell == band->second.cells.end()) continue;
      fn(i, point.epoch, (point.value - cell->second.mean) / band->second.scale(cell->second), band->second.df);
    }
  }
}

std::optional<Bands> make_bands(const Comparison& comparison) {
  const std::map<int, EpochBand> fitted = fit_bands(comparison);
  Bands bands;
  each_checked(comparison, fitted, [&](std::size_t, int, double t, double df) {
    ++bands.values;
    if (std::fabs(t) <= student_t_quantile(1 - (1 - kLevel) / 2, df)) ++bands.inside;
  });
  if (bands.values == 0) return std::nullopt;
  const double each = (1 - kLevel) / 2 / static_cast<double>(bands.values);
  each_checked(comparison, fitted, [&](std::size_t run, int epoch, double t, double df) {
    if (std::fabs(t) <= student_t_quantile(1 - each, df)) return;
    if (bands.outside.empty() || bands.outside.back().run != run)
      bands.outside.push_back({run, epoch, t});
    else if (std::fabs(t) > std::fabs(bands.outside.back().t))
      bands.outside.back() = {run, epoch, t};
  });
  std::map<std::string, CellBand> cells;
  for (const auto& [epoch, band] : fitted)
    for (const auto& [name, cell] : band.cells) {
      const double half = student_t_quantile(1 - (1 - kLevel) / 2, band.df) * band.scale(cell);
      CellBand& of = cells.try_emplace(name, CellBand{name, {}}).first->second;
      of.points.push_back({epoch, cell.mean - half, cell.mean + half});
    }
  for (auto& [name, cell] : cells) bands.cells.push_back(std::move(cell));
  return bands;
}

// --- jumps ------------------------------------------------------------------------------------------------------

// The epochs after which a run goes on at another site.
std::set<int> changes_after(const Run& run) {
  std::set<int> epochs;
  for (std::size_t job = 1; job < run.jobs.size(); ++job)
    if (run.jobs[job].site != run.jobs[job - 1].site) epochs.insert(run.jobs[job - 1].last_epoch);
  return epochs;
}

struct Steps {
  double sum = 0;
  std::size_t n = 0;
  void add(double step) { sum += step, ++n; }
  double mean() const { return n == 0 ? 0 : sum / static_cast<double>(n); }
};

std::optional<Jumps> find_jumps(const Comparison& comparison) {
  Jumps jumps;
  std::vector<double> sizes;
  const auto& runs = comparison.experiment.runs;
  for (const Pair& pair : comparison.paired[comparison.primary].pairs) {
    if (pair.migrated.size() != 1) continue;
    const std::set<int> moves = changes_after(runs[pair.migrated.front()]);
    const std::set<int> baseline_moves = changes_after(runs[pair.baseline.front()]);
    Steps at_changes, elsewhere;
    for (std::size_t i = 1; i < pair.by_epoch.size(); ++i) {
      const Point& before = pair.by_epoch[i - 1];
      const Point& after = pair.by_epoch[i];
      if (after.epoch != before.epoch + 1 || baseline_moves.contains(before.epoch)) continue;
      (moves.contains(before.epoch) ? at_changes : elsewhere).add(after.value - before.value);
    }
    if (at_changes.n == 0) continue;
    jumps.changes += at_changes.n;
    sizes.push_back(at_changes.mean() - elsewhere.mean());
  }
  jumps.sizes = summarize(sizes);
  if (jumps.sizes.n < 2) return std::nullopt;
  jumps.interval = mean_interval(jumps.sizes, kLevel);
  const double error = standard_error(jumps.sizes);
  const auto df = static_cast<double>(jumps.sizes.n - 1);
  if (error > 0)
    jumps.p = std::min(1.0, 2 * student_t_upper_tail(std::fabs(jumps.sizes.mean) / error, df));
  else
    jumps.p = jumps.sizes.mean == 0 ? 1 : 0;
  return jumps;
}

// --- spread -----------------------------------------------------------------------------------------------------

std::vector<double> shares_of(const Comparison& comparison, const Run& run) {
  std::vector<double> shares(comparison.sites.size());
  double all = 0;
  for (const Job& job : run.jobs) {
    const auto site = std::find(comparison.sites.begin(), comparison.sites.end(), job.site);
    const double epochs = job.last_epoch - job.first_epoch + 1;
    all += epochs;
    if (site != comparison.sites.end()) shares[static_cast<std::size_t>(site - comparison.sites.begin())] += epochs;
  }
  for (double& share : shares) share /= std::max(all, 1.0);
  return shares;
}

// Equal names get equal numbers, from 0.
class Numbers {
 public:
  std::size_t of(const std::string& name) { return known_.try_emplace(name, known_.size()).first->second; }

 private:
  std::map<std::string, std::size_t> known_;
};

std::optional<Spread> find_spread(const Comparison& comparison) {
  std::vector<Observation> observations;
  Numbers cells, seeds;
  std::map<std::size_t, std::set<std::size_t>> seeds_of_cell;
  const auto& runs = comparison.experiment.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto value = usable(comparison, i, comparison.primary);
    if (!value) continue;
    const std::size_t cell = cells.of(values_label(comparison, runs[i]));
    const std::size_t seed = seeds.of(runs[i].pair.empty() ? runs[i].uuid : runs[i].pair);
    seeds_of_cell[cell].insert(seed);
    observations.push_back({*value, cell, seed, shares_of(comparison, runs[i])});
  }
  Spread spread;
  spread.seeds_hold_values =
      seeds_of_cell.size() > 1 &&
      std::all_of(seeds_of_cell.begin(), seeds_of_cell.end(), [](const auto& cell) { return cell.second.size() == 1; });
  if (spread.seeds_hold_values)
    for (Observation& observation : observations) observation.cell = 0;
  auto parts = estimate_components(observations);
  spread.with_sites = parts.has_value();
  if (!parts) parts = estimate_seed_component(observations);
  if (!parts) return std::nullopt;
  spread.parts = *parts;
  return spread;
}

}  // namespace

Moves find_moves(const Comparison& comparison) {
  Moves moves;
  moves.bands = comparison.has_baseline ? make_bands(comparison) : std::nullopt;
  if (!moves.bands)
    moves.no_bands = "it takes baseline runs of the same values that are finished, three or more in all";
  if (comparison.has_baseline && !comparison.metrics[comparison.primary].evaluation)
    moves.jumps = find_jumps(comparison);
  if (!moves.jumps)
    moves.no_jumps = "it takes two pairs that report a training job's metric on both sides of a change of site";
  moves.spread = find_spread(comparison);
  if (!moves.spread)
    moves.no_spread =
        "it takes finished runs that share a seed, and others that do not, whose values differ, and not above 100 "
        "combinations of values";
  return moves;
}

}  // namespace godwit::report
