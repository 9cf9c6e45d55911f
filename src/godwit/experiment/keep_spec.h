// `keep`: which checkpoints of a run stay.
#pragma once

#include <optional>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"
#include "godwit/dag/rules.h"

namespace godwit::experiment {

struct KeepSpec {
  Position position;
  Position best_position, metric_position;
  bool says_best = false;
  dag::KeepRule rule;  // its metric only where `keep` itself names one
};

// Reads the value of the experiment's key `keep`. Faults go to `diagnostics`; nullopt where there is one.
std::optional<KeepSpec> read_keep(const yaml::Node& node, Diagnostics& diagnostics);

}  // namespace godwit::experiment
