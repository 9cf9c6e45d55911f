// Values of variables that may not fit where a description puts them: with quotes, spaces, macros.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/dag/graph.h"
#include "godwit/submit/description.h"

namespace godwit::experiment {

struct SuspectValue {
  dag::NodeId node = 0;  // the first job of the first run that has it
  std::string name;
  std::string value;
};

// Each such value of a variable once, at most `most`.
std::vector<SuspectValue> suspect_values(const dag::Graph& graph, std::size_t most);

// The first macro in the value that neither the description, which `lookup` has variables for, nor Godwit defines.
std::optional<std::string> undefined_macro_in(const SuspectValue& suspect, const submit::Description& description,
                                              const submit::Lookup& lookup);

}  // namespace godwit::experiment
