// The metric by which an experiment's rules go: its name, and which way it is better.
#pragma once

#include <string>

#include "godwit/base/error.h"
#include "godwit/base/schema.h"
#include "godwit/base/yaml.h"
#include "godwit/dag/rules.h"

namespace godwit::experiment {

// Reads the key `metric`. What is wrong with the name goes to `diagnostics`; empty where it is absent or not text.
std::string read_metric_name(yaml::Fields& fields, Diagnostics& diagnostics);

// `metric` with `mode` (min, max; by the metric's name unless said). The name is empty where `metric` is absent.
dag::Metric read_metric(yaml::Fields& fields, Diagnostics& diagnostics);

// The keys `metric` and `mode`, for tables.
schema::Key metric_key(std::string_view about);
schema::Key mode_key();

}  // namespace godwit::experiment
