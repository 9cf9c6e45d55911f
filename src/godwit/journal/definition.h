// The JSON of `nodes` events: the nodes and edges of a Dag in chunks, written and read without building a tree, since a
// Dag may have a million of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace godwit::journal {

// Ids count over all chunks, in the order of the nodes.
using NodeIndex = std::uint32_t;

struct NodeDefinition {
  std::string_view name;
  std::string_view kind;  // dag::NodeKind as text
  std::string_view run;   // run_uuid; empty: belongs to none
  std::string_view site;  // planned; empty: none
  std::uint32_t first_epoch = 0;
  std::uint32_t last_epoch = 0;  // 0: the node trains no epochs
};

struct EdgeDefinition {
  NodeIndex parent = 0;
  NodeIndex child = 0;
};

// A chunk of some ten thousand nodes is a good size. Edges may name nodes of this and of earlier chunks.
std::string nodes_json(NodeIndex first, std::span<const NodeDefinition> nodes, std::span<const EdgeDefinition> edges);

// Calls for each node, then for each edge, of a chunk. Views are valid during the call only. What it does not know is
// passed over. False where the text is not JSON of this form.
bool read_nodes(std::string_view json, const std::function<void(const NodeDefinition&)>& on_node,
                const std::function<void(const EdgeDefinition&)>& on_edge);

}  // namespace godwit::journal
