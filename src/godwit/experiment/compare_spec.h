// `compare`: what is to be shown of the runs, said before they have run.
#pragma once

#include <optional>
#include <string>

#include "godwit/base/error.h"
#include "godwit/base/json.h"
#include "godwit/base/yaml.h"

namespace godwit::experiment {

struct CompareSpec {
  Position position;
  Position metric_position;
  std::string metric;
  std::string better;  // "low", "high"; empty: by the metric's name
  double margin = 0;   // in the metric's own unit, > 0
  double alpha = 0.05;
};

// Reads the value of the experiment's key `compare`. Faults go to `diagnostics`; nullopt where there is one.
std::optional<CompareSpec> read_compare(const yaml::Node& node, Diagnostics& diagnostics);

// As the journal keeps it: {"metric","better"?,"margin","alpha"}; an empty object where nothing is declared.
Json declaration_json(const std::optional<CompareSpec>& compare);

// That key alone of an experiment's file, whatever else is in it. Throws InputError where the key is wrong or the file
// is no YAML, SystemError where it cannot be read.
std::optional<CompareSpec> load_compare(const std::string& path);

}  // namespace godwit::experiment
