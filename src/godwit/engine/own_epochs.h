// The epochs that a training job trains, and which lines of its metrics tell of one of them.
#pragma once

#include <cstdint>
#include <string>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"

namespace godwit::engine {

struct OwnEpochs {
  std::uint32_t first = 0, last = 0;  // last 0: the node trains none, and every line is its own

  OwnEpochs(const dag::Graph& graph, dag::NodeId node);

  // A line that names no epoch is one; of those that do, one that names a whole number from first to last.
  bool have(const Json& line) const;
  std::string text() const;  // "epoch 3", "epochs 3 to 4"
};

}  // namespace godwit::engine
