// Where the runs' final weights lie: how far the two of a pair are apart, and whether a ridge of worse models is
// between them. The yardstick of both are baseline runs of other seeds: what differs without any migration.
//
// Sources: the barrier is Entezari, Sedghi, Saukh and Neyshabur's (ICLR 2022, definition 3); that it tells whether
// training has settled on one linearly connected mode is Frankle, Dziugaite, Roy and Carbin's (ICML 2020).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "godwit/ml/weights.h"
#include "godwit/report/statistics.h"

namespace godwit::report {

struct Comparison;

// Two runs whose weights are compared.
struct RunPair {
  std::size_t a = 0, b = 0;  // indices of runs: baseline and migrated, or two baselines
  bool same_seed = true;     // false: the yardstick
};

// Each migrated run with its pair's baseline; then, within each combination of values, each baseline run with the next
// one and the last with the first. Only runs that count.
std::vector<RunPair> pairs_to_look_at(const Comparison& comparison);

struct Distance {
  RunPair runs;
  ml::WeightDistance weights;
};

struct Distances {
  std::vector<Distance> all;
  Summary same_seed, yardstick;  // of the relative distances
};

// Where a run's last checkpoint is: a file. nullopt: there is none.
using CheckpointOf = std::function<std::optional<std::string>(std::size_t run)>;

// Throws InputError where a file is no safetensors or two are not of one model, Error where there are no two runs with
// checkpoints.
Distances measure_distances(const Comparison& comparison, const CheckpointOf& checkpoint_of);

struct Barrier {
  RunPair runs;
  std::vector<std::pair<double, double>> line;  // place in [0, 1] from a to b, and the metric there
  // The most by which the metric is worse than the straight line between its ends; below 0 where all between is better.
  double height = 0;
};

struct Barriers {
  std::string metric;
  bool high_is_better = false;
  std::vector<Barrier> all;
  Summary same_seed, yardstick;  // of the heights
};

// From the metric along each line. Each line begins at 0, ends at 1 and has a place between; values are finite.
Barriers measure_barriers(std::vector<Barrier> lines, std::string metric, bool high_is_better);

// What was found, or why not: a clause for people. Both empty: nobody asked.
struct Landscape {
  std::optional<Distances> distances;
  std::string no_distances;
  std::optional<Barriers> barriers;
  std::string no_barriers;
};

}  // namespace godwit::report
