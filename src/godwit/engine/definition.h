// The definition of a Dag as the journal keeps it, so that viewers need no other file.
#pragma once

#include <functional>
#include <string>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"
#include "godwit/journal/event.h"

namespace godwit::engine {

// 32 hex digits over everything in the graph that decides what runs: nodes, edges, variables, attributes,
// descriptions at every site. Equal graphs, equal digests.
std::string digest(const dag::Graph& graph);

struct DefinitionHeader {
  std::string dag_uuid;
  std::string file;            // what the Dag was made from
  std::string version;         // Godwit's
  Json sites = Json::array();  // one object per site of the graph, with its "name"
};

// Emits the dag, site, run and nodes events.
void describe_definition(const dag::Graph& graph, const DefinitionHeader& header,
                         const std::function<void(journal::Kind, std::string json)>& emit);

}  // namespace godwit::engine
