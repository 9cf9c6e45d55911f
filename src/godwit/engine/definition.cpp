#include "godwit/engine/definition.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/hash.h"
#include "godwit/journal/definition.h"

namespace godwit::engine {

using dag::NodeId;

namespace {

void feed(FieldHasher& hasher, const std::optional<dag::Script>& script) {
  hasher.add(script ? script->arguments.size() + 1 : 0);
  if (!script) return;
  hasher.add(script->executable);
  for (const std::string& argument : script->arguments) hasher.add(argument);
}

void feed(FieldHasher& hasher, const dag::Attributes& attributes) {
  hasher.add(fmt::format("{} {} {}", attributes.retries, attributes.unless_exit.value_or(-1), attributes.priority));
  hasher.add(attributes.category);
  const dag::Escalation escalation = attributes.memory_escalation.value_or(dag::Escalation{});
  hasher.add(fmt::format("{} {}", escalation.factor, escalation.limit_mb));
  feed(hasher, attributes.pre);
  feed(hasher, attributes.post);
  feed(hasher, attributes.hold);
}

std::uint64_t node_digest(const dag::Graph& graph, NodeId node) {
  FieldHasher hasher;
  hasher.add(graph.name_of(node));
  hasher.add(static_cast<std::uint64_t>(graph.kind(node)));
  hasher.add(std::uint64_t{graph.template_of(node)});
  hasher.add(std::uint64_t{graph.planned_site(node)});
  feed(hasher, graph.attributes(node));
  graph.each_var(node, [&](std::string_view key, std::string_view value) { hasher.add(key).add(value); });
  for (const NodeId parent : graph.parents(node)) hasher.add(std::uint64_t{parent});
  return hasher.digest64();
}

constexpr NodeId kNodesPerEvent = 10'000;

journal::NodeDefinition definition_of(const dag::Graph& graph, NodeId node) {
  journal::NodeDefinition definition;
  definition.name = graph.name_of(node);
  definition.kind = dag::to_string(graph.kind(node));
  definition.site = graph.sites()[graph.planned_site(node)];
  if (graph.run_of(node) != dag::kNoRun) definition.run = graph.runs()[graph.run_of(node)].uuid;
  if (graph.kind(node) == dag::NodeKind::train || graph.kind(node) == dag::NodeKind::evaluate) {
    definition.first_epoch = epoch_of(graph, node, "first_epoch");
    definition.last_epoch = epoch_of(graph, node, "last_epoch");
  }
  return definition;
}

// Edges go with the later of their two nodes, so that a chunk names only nodes of its own and of earlier chunks.
std::string chunk_json(const dag::Graph& graph, NodeId first, NodeId end) {
  std::vector<journal::NodeDefinition> nodes;
  std::vector<journal::EdgeDefinition> edges;
  for (NodeId node = first; node < end; ++node) {
    nodes.push_back(definition_of(graph, node));
    for (const NodeId parent : graph.parents(node))
      if (parent < end) edges.push_back({parent, node});
    for (const NodeId child : graph.children(node))
      if (child < first) edges.push_back({node, child});
  }
  return journal::nodes_json(first, nodes, edges);
}

Json run_json(const dag::Run& run, std::string_view epochs) {
  Json values = Json::object();
  for (const auto& [name, value] : run.values) values[name] = value;
  Json json{{"number", run.number},       {"run_uuid", run.uuid},     {"seed", run.seed},
            {"replicate", run.replicate}, {"baseline", run.baseline}, {"pair", run.pair},
            {"values", std::move(values)}};
  if (!epochs.empty()) json["epochs"] = std::stoll(std::string(epochs));
  return json;
}

}  // namespace

std::string digest(const dag::Graph& graph) {
  FieldHasher hasher;
  for (const std::string& site : graph.sites()) hasher.add(site);
  for (const dag::Template& entry : graph.templates()) {
    hasher.add(entry.name);
    for (const auto& description : entry.at_site) hasher.add(description ? description->text() : "");
  }
  for (NodeId node = 0; node < graph.size(); ++node) hasher.add(node_digest(graph, node));
  return hex(hasher.digest128());
}

void describe_definition(const dag::Graph& graph, const DefinitionHeader& header,
                         const std::function<void(journal::Kind, std::string json)>& emit) {
  emit(journal::Kind::dag, dump({{"uuid", header.dag_uuid},
                                 {"name", graph.name},
                                 {"file", header.file},
                                 {"version", header.version},
                                 {"directory", graph.directory},
                                 {"digest", digest(graph)},
                                 {"nodes", graph.size()},
                                 {"edges", graph.edges().size()},
                                 {"revision", header.revision}}));
  if (!header.source.is_null()) emit(journal::Kind::source, dump(header.source));
  for (const Json& file : header.code) emit(journal::Kind::code, dump(file));
  for (const Json& site : header.sites) emit(journal::Kind::site, dump(site));

  // A run's number of epochs is the last epoch of its nodes.
  std::vector<std::string_view> epochs(graph.runs().size());
  for (NodeId node = 0; node < graph.size(); ++node)
    if (graph.run_of(node) != dag::kNoRun && graph.kind(node) == dag::NodeKind::train)
      epochs[graph.run_of(node)] = graph.var(node, "last_epoch").value_or("");
  for (dag::RunId run = 0; run < graph.runs().size(); ++run)
    emit(journal::Kind::run, dump(run_json(graph.runs()[run], epochs[run])));

  for (NodeId first = 0; first < graph.size(); first += kNodesPerEvent)
    emit(journal::Kind::nodes,
         chunk_json(graph, first, std::min<NodeId>(first + kNodesPerEvent, static_cast<NodeId>(graph.size()))));
}

}  // namespace godwit::engine
