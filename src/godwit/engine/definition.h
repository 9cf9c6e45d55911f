// The definition of a Dag as the journal keeps it, so that viewers need no other file.
#pragma once

#include <cstdint>
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
  Json source = nullptr;       // what the Dag was made from, for later comparison; null: not said
  Json code = Json::array();   // one object per file that the jobs run or read, as journal::Kind::code keeps it
  std::uint32_t revision = 0;  // how often the definition was changed before
};

// Emits the dag, source, code, site, run and nodes events.
void describe_definition(const dag::Graph& graph, const DefinitionHeader& header,
                         const std::function<void(journal::Kind, std::string json)>& emit);

}  // namespace godwit::engine
