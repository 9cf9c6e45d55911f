// The one intermediate form: everything that defines work lowers to a Graph, everything that runs or writes work
// takes one. Made for millions of nodes: dense ids, interned strings, attributes and variables shared between
// nodes.
//
// A Graph is built by adding nodes and edges, then freeze() makes the adjacency; after that it does not change.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "godwit/base/interner.h"
#include "godwit/dag/rules.h"
#include "godwit/submit/description.h"

namespace godwit::dag {

using NodeId = std::uint32_t;
using SiteId = std::uint16_t;      // index into Graph::sites()
using TemplateId = std::uint32_t;  // index into Graph::templates()
using AttributesId = std::uint32_t;
using VarsId = std::uint32_t;
using RunId = std::uint32_t;

inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();
inline constexpr RunId kNoRun = std::numeric_limits<RunId>::max();
inline constexpr VarsId kNoVars = std::numeric_limits<VarsId>::max();

enum class NodeKind : std::uint8_t { train, evaluate, job, noop, service };

std::string_view to_string(NodeKind kind);

// A PRE, POST or HOLD script: argv, no shell. Arguments may hold DAGMan's $JOB, $RETRY, $MAX_RETRIES, $RETURN,
// $JOBID, $DAG_STATUS, $FAILED_COUNT, $PRE_SCRIPT_RETURN.
struct Script {
  std::string executable;
  std::vector<std::string> arguments;
  friend bool operator==(const Script&, const Script&) = default;
};

// "request_memory: x2 up to 128GB": what grows when an attempt ran out of it.
struct Escalation {
  double factor = 1;
  std::uint64_t limit_mb = 0;
  friend bool operator==(const Escalation&, const Escalation&) = default;
};

// What few distinct values cover a whole graph with; shared between nodes.
struct Attributes {
  std::uint32_t retries = 0;
  std::optional<int> unless_exit;
  std::optional<Escalation> memory_escalation;
  std::int32_t priority = 0;
  std::string category;  // DAGMan's CATEGORY; empty: none
  std::optional<Script> pre, post, hold;
  friend bool operator==(const Attributes&, const Attributes&) = default;
};

// A submit template and its form at each site of the graph (nullptr where the template may not run).
struct Template {
  std::string name;
  std::vector<std::shared_ptr<const submit::Description>> at_site;  // indexed by SiteId
};

// A training run, as viewers group nodes.
struct Run {
  std::uint32_t number = 0;
  std::string uuid;        // 8 hex digits
  std::uint32_t seed = 0;  // < 2^31
  std::uint32_t replicate = 0;
  bool baseline = false;
  std::string pair;  // runs with the same values and seed, migrated and baseline, share it
  std::vector<std::pair<std::string, std::string>> values;  // the sweep's variables, as text
};

struct Var {
  Interner::Id key;
  Interner::Id value;
};

struct Edge {
  NodeId parent;
  NodeId child;
};

class Graph {
 public:
  std::string name;
  std::string directory;           // absolute: where relative paths of descriptions and scripts start
  std::vector<std::string> notes;  // said by `plan`, for people
  std::uint32_t max_jobs = 0;      // at once, whatever their category; 0: no limit
  Rules rules;                     // for its training runs

  // --- building -----------------------------------------------------------------------------------------------
  SiteId add_site(std::string_view site);  // finds or adds
  TemplateId add_template(Template description);
  AttributesId add_attributes(const Attributes& attributes);  // equal ones share an id
  RunId add_run(Run run);
  // A block of variables over an enclosing one: inner definitions win, and in a block the last one of a key.
  VarsId add_vars(VarsId enclosing, std::span<const Var> vars);
  // Names are unique: the builder sees to it, by find() where they come from people.
  NodeId add_node(std::string_view name, NodeKind kind, TemplateId description, SiteId site,
                  AttributesId attributes = 0, VarsId vars = kNoVars, RunId run = kNoRun);
  void add_edge(NodeId parent, NodeId child);
  void set_category_limit(std::string category, std::uint32_t most);
  void reserve(std::size_t nodes, std::size_t edges);
  // Builds the adjacency, each edge once, children and parents in the order their edges were added. Throws
  // InputError with the cycle as a path ("a → b → a") where there is one. Linear in nodes and edges (Kahn's
  // algorithm).
  void freeze();

  // --- reading ------------------------------------------------------------------------------------------------
  std::size_t size() const { return nodes_.size(); }
  std::string_view name_of(NodeId node) const;
  NodeKind kind(NodeId node) const { return nodes_[node].kind; }
  SiteId planned_site(NodeId node) const { return nodes_[node].site; }
  TemplateId template_of(NodeId node) const { return nodes_[node].description; }
  const Attributes& attributes(NodeId node) const { return attributes_[nodes_[node].attributes]; }
  AttributesId attributes_id(NodeId node) const { return nodes_[node].attributes; }
  const std::vector<Attributes>& all_attributes() const { return attributes_; }  // indexed by AttributesId
  RunId run_of(NodeId node) const { return nodes_[node].run; }
  // By an index that the first use makes and later ones extend by the nodes added since; the lowest id where a
  // name occurs twice. Not for two threads at once until every node is indexed.
  std::optional<NodeId> find(std::string_view name) const;
  const submit::Description* description(NodeId node, SiteId site) const;

  // The value of a node's variable, the innermost definition; nullopt where it has none.
  std::optional<std::string_view> var(NodeId node, std::string_view key) const;
  // Calls fn(key, value) for each of the node's variables, enclosing blocks first, overridden ones left out.
  template <typename Fn>
  void each_var(NodeId node, Fn&& fn) const;
  // The blocks themselves, for those who share work between the nodes of a block. `fn` takes a Var.
  VarsId vars_of(NodeId node) const { return nodes_[node].vars; }
  VarsId enclosing(VarsId block) const { return blocks_[block].enclosing; }
  std::span<const Var> own_vars(VarsId block) const {
    return std::span(vars_).subspan(blocks_[block].begin, blocks_[block].end - blocks_[block].begin);
  }
  template <typename Fn>
  void each_visible_var(VarsId block, Fn&& fn) const;

  std::span<const NodeId> children(NodeId node) const;
  std::span<const NodeId> parents(NodeId node) const;
  std::span<const Edge> edges() const { return edges_; }

  const std::vector<std::string>& sites() const { return sites_; }
  SiteId site_count() const { return static_cast<SiteId>(sites_.size()); }
  const std::vector<Template>& templates() const { return templates_; }
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<std::pair<std::string, std::uint32_t>>& category_limits() const { return category_limits_; }
  Interner& strings() { return strings_; }
  const Interner& strings() const { return strings_; }

 private:
  struct NodeRecord {
    std::uint64_t name_begin;
    std::uint32_t name_size;
    TemplateId description;
    AttributesId attributes;
    VarsId vars;
    RunId run;
    SiteId site;
    NodeKind kind;
  };
  struct VarsBlock {
    VarsId enclosing;
    std::uint32_t begin, end;  // in vars_
    std::uint32_t depth;       // blocks from this one outwards, at most kMaxVarsDepth
  };
  static constexpr std::uint32_t kMaxVarsDepth = 8;  // deeper ones are flattened when added

  void build_adjacency();
  void check_acyclic() const;
  std::string cycle_path(const std::vector<std::uint32_t>& waiting_for) const;
  void index_names() const;

  std::vector<NodeRecord> nodes_;
  std::string names_;
  std::vector<VarsBlock> blocks_;
  std::vector<Var> vars_;
  std::vector<Attributes> attributes_{Attributes{}};
  std::unordered_multimap<std::size_t, AttributesId> attributes_by_hash_;
  std::vector<Template> templates_;
  std::vector<Run> runs_;
  std::vector<std::string> sites_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> child_begin_, parent_begin_;
  std::vector<NodeId> children_, parents_;
  std::vector<std::pair<std::string, std::uint32_t>> category_limits_;
  Interner strings_;
  // Open addressing over the name hashes; holds the first `indexed_` nodes.
  mutable std::vector<NodeId> by_name_;
  mutable NodeId indexed_ = 0;
};

// A node's variable that is a whole number, such as last_epoch; 0 where it has none.
std::uint32_t epoch_of(const Graph& graph, NodeId node, std::string_view variable);

template <typename Fn>
void Graph::each_visible_var(VarsId block, Fn&& fn) const {
  VarsId chain[kMaxVarsDepth];
  std::size_t depth = 0;
  for (VarsId id = block; id != kNoVars; id = blocks_[id].enclosing) chain[depth++] = id;
  const auto overridden = [&](Interner::Id key, std::size_t level) {
    for (std::size_t inner = 0; inner < level; ++inner)
      for (const Var& var : own_vars(chain[inner]))
        if (var.key == key) return true;
    return false;
  };
  for (std::size_t level = depth; level-- > 0;)
    for (const Var& var : own_vars(chain[level]))
      if (!overridden(var.key, level)) fn(var);
}

template <typename Fn>
void Graph::each_var(NodeId node, Fn&& fn) const {
  each_visible_var(nodes_[node].vars, [&](const Var& var) { fn(strings_.view(var.key), strings_.view(var.value)); });
}

}  // namespace godwit::dag
