#include "godwit/engine/own_epochs.h"

#include <fmt/format.h>

#include "godwit/journal/metrics.h"

namespace godwit::engine {

OwnEpochs::OwnEpochs(const dag::Graph& graph, dag::NodeId node) {
  if (graph.kind(node) != dag::NodeKind::train) return;
  first = epoch_of(graph, node, "first_epoch");
  last = epoch_of(graph, node, "last_epoch");
}

bool OwnEpochs::have(const Json& line) const {
  if (last == 0 || !line.contains("epoch")) return true;
  const auto epoch = journal::named_epoch(line);
  return epoch && *epoch >= first && *epoch <= last;
}

std::string OwnEpochs::text() const {
  return first == last ? fmt::format("epoch {}", last) : fmt::format("epochs {} to {}", first, last);
}

}  // namespace godwit::engine
