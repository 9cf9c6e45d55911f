#include "godwit/report/landscape.h"

#include <algorithm>
#include <limits>
#include <map>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/report/comparison.h"

namespace godwit::report {
namespace {

// A file in memory and what it holds.
class Loaded {
 public:
  explicit Loaded(std::string path) : path_(std::move(path)), bytes_(read_file(path_)) {
    tensors_ = ml::Safetensors::parse(bytes_, path_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  const ml::Safetensors& tensors() const { return tensors_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string bytes_;
  ml::Safetensors tensors_;  // looks into bytes_
};

Summary summarize_of(const auto& all, bool same_seed, const auto& value) {
  std::vector<double> values;
  for (const auto& entry : all)
    if (entry.runs.same_seed == same_seed) values.push_back(value(entry));
  return summarize(values);
}

}  // namespace

std::vector<RunPair> pairs_to_look_at(const Comparison& comparison) {
  const auto& runs = comparison.experiment.runs;
  std::map<std::string, std::size_t> baseline_of;
  std::map<std::string, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].baseline || !runs[i].counts()) continue;
    if (!runs[i].pair.empty()) baseline_of.try_emplace(runs[i].pair, i);
    cells[values_label(comparison, runs[i])].push_back(i);
  }
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto baseline = runs[i].baseline || !runs[i].counts() ? baseline_of.end() : baseline_of.find(runs[i].pair);
    if (baseline != baseline_of.end()) pairs.push_back({baseline->second, i, true});
  }
  for (const auto& [values, cell] : cells)
    for (std::size_t i = 0; i < cell.size(); ++i) {
      const std::size_t next = (i + 1) % cell.size();
      if (next > i || (next == 0 && cell.size() > 2)) pairs.push_back({cell[i], cell[next], false});
    }
  return pairs;
}

Distances measure_distances(const Comparison& comparison, const CheckpointOf& checkpoint_of) {
  Distances distances;
  for (const RunPair& runs : pairs_to_look_at(comparison)) {
    const auto a = checkpoint_of(runs.a);
    const auto b = checkpoint_of(runs.b);
    if (!a || !b) continue;
    const Loaded left(*a);
    const Loaded right(*b);
    distances.all.push_back({runs, ml::weight_distance(left.tensors(), left.path(), right.tensors(), right.path())});
  }
  if (distances.all.empty()) throw Error("no two runs to compare have their last checkpoints");
  const auto relative = [](const Distance& distance) { return distance.weights.relative(); };
  distances.same_seed = summarize_of(distances.all, true, relative);
  distances.yardstick = summarize_of(distances.all, false, relative);
  return distances;
}

Barriers measure_barriers(std::vector<Barrier> lines, std::string metric, bool high_is_better) {
  Barriers barriers{std::move(metric), high_is_better, std::move(lines), {}, {}};
  for (Barrier& barrier : barriers.all) {
    barrier.height = -std::numeric_limits<double>::infinity();
    const double from = barrier.line.front().second;
    const double to = barrier.line.back().second;
    for (std::size_t i = 1; i + 1 < barrier.line.size(); ++i) {
      const auto [place, value] = barrier.line[i];
      const double straight = (1 - place) * from + place * to;
      barrier.height = std::max(barrier.height, high_is_better ? straight - value : value - straight);
    }
  }
  const auto height = [](const Barrier& barrier) { return barrier.height; };
  barriers.same_seed = summarize_of(barriers.all, true, height);
  barriers.yardstick = summarize_of(barriers.all, false, height);
  return barriers;
}

}  // namespace godwit::report
