// `early_stop` and `asha`: which runs go on, by what they have reached.
#pragma once

#include <optional>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"
#include "godwit/dag/rules.h"

namespace godwit::experiment {

// The metric of either has an empty name where the key names none.
struct EarlyStopSpec {
  Position position, metric_position;
  dag::EarlyStopRule rule;
};

struct AshaSpec {
  Position position, metric_position;
  dag::AshaRule rule;
};

// Read the values of these keys. Faults go to `diagnostics`; nullopt where there is one.
std::optional<EarlyStopSpec> read_early_stop(const yaml::Node& node, Diagnostics& diagnostics);
std::optional<AshaSpec> read_asha(const yaml::Node& node, Diagnostics& diagnostics);

}  // namespace godwit::experiment
