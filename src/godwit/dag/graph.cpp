#include "godwit/dag/graph.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <utility>

#include "godwit/base/error.h"

namespace godwit::dag {

std::string_view to_string(NodeKind kind) {
  switch (kind) {
    case NodeKind::train:
      return "train";
    case NodeKind::evaluate:
      return "evaluate";
    case NodeKind::job:
      return "job";
    case NodeKind::noop:
      return "noop";
    case NodeKind::service:
      return "service";
  }
  return "job";
}

// --- building ---------------------------------------------------------------------------------------------------

SiteId Graph::add_site(std::string_view site) {
  const auto found = std::find(sites_.begin(), sites_.end(), site);
  if (found != sites_.end()) return static_cast<SiteId>(found - sites_.begin());
  if (sites_.size() > std::numeric_limits<SiteId>::max()) throw InputError("more than 65536 sites in one graph");
  sites_.emplace_back(site);
  return static_cast<SiteId>(sites_.size() - 1);
}

TemplateId Graph::add_template(Template description) {
  templates_.push_back(std::move(description));
  return static_cast<TemplateId>(templates_.size() - 1);
}

namespace {

std::size_t hash_of(const Attributes& attributes) {
  std::size_t hash = 0;
  const auto mix = [&hash](std::size_t value) { hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2); };
  mix(attributes.retries);
  mix(static_cast<std::size_t>(attributes.priority));
  mix(static_cast<std::size_t>(attributes.unless_exit.value_or(-1)));
  mix(std::hash<std::string>{}(attributes.category));
  return hash;  // equality looks at the rest, which hardly ever differs alone
}

}  // namespace

AttributesId Graph::add_attributes(const Attributes& attributes) {
  if (attributes == attributes_[0]) return 0;
  const std::size_t hash = hash_of(attributes);
  const auto [first, last] = attributes_by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (attributes_[it->second] == attributes) return it->second;
  const AttributesId id = static_cast<AttributesId>(attributes_.size());
  attributes_.push_back(attributes);
  attributes_by_hash_.emplace(hash, id);
  return id;
}

RunId Graph::add_run(Run run) {
  runs_.push_back(std::move(run));
  return static_cast<RunId>(runs_.size() - 1);
}

VarsId Graph::add_vars(VarsId enclosing, std::span<const Var> vars) {
  std::vector<Var> flattened;
  std::uint32_t depth = enclosing == kNoVars ? 1 : blocks_[enclosing].depth + 1;
  if (depth > kMaxVarsDepth) {
    each_visible_var(enclosing, [&](const Var& var) { flattened.push_back(var); });
    flattened.insert(flattened.end(), vars.begin(), vars.end());
    vars = flattened;
    enclosing = kNoVars;
    depth = 1;
  }
  const auto begin = static_cast<std::uint32_t>(vars_.size());
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const auto later = vars.subspan(i + 1);
    const auto same_key = [&](const Var& var) { return var.key == vars[i].key; };
    if (std::none_of(later.begin(), later.end(), same_key)) vars_.push_back(vars[i]);
  }
  blocks_.push_back({enclosing, begin, static_cast<std::uint32_t>(vars_.size()), depth});
  return static_cast<VarsId>(blocks_.size() - 1);
}

NodeId Graph::add_node(std::string_view node_name, NodeKind kind, TemplateId description, SiteId site,
                       AttributesId attributes, VarsId vars, RunId run) {
  nodes_.push_back(
      {names_.size(), static_cast<std::uint32_t>(node_name.size()), description, attributes, vars, run, site, kind});
  names_ += node_name;
  return static_cast<NodeId>(nodes_.size() - 1);
}

void Graph::add_edge(NodeId parent, NodeId child) {
  edges_.push_back({parent, child});
}

void Graph::set_category_limit(std::string category, std::uint32_t most) {
  for (auto& [known, limit] : category_limits_)
    if (known == category) {
      limit = most;
      return;
    }
  category_limits_.emplace_back(std::move(category), most);
}

void Graph::reserve(std::size_t nodes, std::size_t edges) {
  constexpr std::size_t kTypicalNameBytes = 24;
  nodes_.reserve(nodes);
  names_.reserve(nodes * kTypicalNameBytes);
  blocks_.reserve(nodes);
  edges_.reserve(edges);
}

namespace {

// Compressed rows: the edges' far ends grouped by their near end, in the order of the edges.
template <typename Near, typename Far>
void group(std::size_t nodes, std::span<const Edge> edges, Near near, Far far, std::vector<std::uint32_t>& begin,
           std::vector<NodeId>& grouped) {
  begin.assign(nodes + 1, 0);
  for (const Edge& edge : edges) ++begin[near(edge) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  grouped.resize(edges.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const Edge& edge : edges) grouped[next[near(edge)]++] = far(edge);
}

}  // namespace

void Graph::build_adjacency() {
  const auto parent = [](const Edge& edge) { return edge.parent; };
  const auto child = [](const Edge& edge) { return edge.child; };
  group(size(), edges_, parent, child, child_begin_, children_);
  group(size(), edges_, child, parent, parent_begin_, parents_);
}

void Graph::freeze() {
  build_adjacency();
  // An edge said twice counts once: the second has its child already marked by the same parent.
  std::vector<NodeId> marked_by(size(), kNoNode);
  bool twice = false;
  for (NodeId node = 0; node < size() && !twice; ++node)
    for (const NodeId child : children(node)) twice |= std::exchange(marked_by[child], node) == node;
  if (twice) {
    std::vector<Edge> distinct;
    std::fill(marked_by.begin(), marked_by.end(), kNoNode);
    for (NodeId node = 0; node < size(); ++node)
      for (const NodeId child : children(node))
        if (std::exchange(marked_by[child], node) != node) distinct.push_back({node, child});
    edges_ = std::move(distinct);
    build_adjacency();
  }
  check_acyclic();
}

void Graph::check_acyclic() const {
  std::vector<std::uint32_t> waiting_for(size());
  std::vector<NodeId> ready;
  ready.reserve(size());
  for (NodeId node = 0; node < size(); ++node) {
    waiting_for[node] = static_cast<std::uint32_t>(parents(node).size());
    if (waiting_for[node] == 0) ready.push_back(node);
  }
  for (std::size_t done = 0; done < ready.size(); ++done)
    for (const NodeId child : children(ready[done]))
      if (--waiting_for[child] == 0) ready.push_back(child);
  if (ready.size() != size())
    throw InputError("the graph has a cycle: " + cycle_path(waiting_for),
                     "a node may not come, by whatever way, before itself; remove one of these edges");
}

// Every node that still waits has a parent that still waits, so walking parents must come round.
std::string Graph::cycle_path(const std::vector<std::uint32_t>& waiting_for) const {
  NodeId node = 0;
  while (waiting_for[node] == 0) ++node;
  std::vector<std::uint32_t> step_of(size(), 0);  // counts from 1; 0: not visited
  std::vector<NodeId> walk;
  while (step_of[node] == 0) {
    walk.push_back(node);
    step_of[node] = static_cast<std::uint32_t>(walk.size());
    const auto waits = [&](NodeId parent) { return waiting_for[parent] != 0; };
    const auto around = parents(node);
    node = *std::find_if(around.begin(), around.end(), waits);
  }
  const std::span<const NodeId> cycle(walk.begin() + (step_of[node] - 1), walk.end());
  constexpr std::size_t kShown = 12;
  std::string path(name_of(node));
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const NodeId next = cycle[cycle.size() - 1 - i];
    if (i == kShown && cycle.size() > kShown + 1) {
      path += " → … (" + std::to_string(cycle.size() - kShown - 1) + " more)";
      i = cycle.size() - 2;
      continue;
    }
    path += " → ";
    path += name_of(next);
  }
  return path;
}

// --- reading ----------------------------------------------------------------------------------------------------

std::string_view Graph::name_of(NodeId node) const {
  return std::string_view(names_).substr(nodes_[node].name_begin, nodes_[node].name_size);
}

void Graph::index_names() const {
  if (indexed_ == size()) return;
  if (by_name_.size() < 2 * size()) {
    std::size_t slots = 16;
    while (slots < 3 * size()) slots *= 2;
    by_name_.assign(slots, kNoNode);
    indexed_ = 0;
  }
  const std::size_t mask = by_name_.size() - 1;
  for (; indexed_ < size(); ++indexed_) {
    std::size_t slot = std::hash<std::string_view>{}(name_of(indexed_))&mask;
    while (by_name_[slot] != kNoNode) slot = (slot + 1) & mask;
    by_name_[slot] = indexed_;
  }
}

std::optional<NodeId> Graph::find(std::string_view wanted) const {
  index_names();
  if (by_name_.empty()) return std::nullopt;
  const std::size_t mask = by_name_.size() - 1;
  for (std::size_t slot = std::hash<std::string_view>{}(wanted)&mask; by_name_[slot] != kNoNode;
       slot = (slot + 1) & mask)
    if (name_of(by_name_[slot]) == wanted) return by_name_[slot];
  return std::nullopt;
}

const submit::Description* Graph::description(NodeId node, SiteId site) const {
  const TemplateId id = nodes_[node].description;
  if (id >= templates_.size() || site >= templates_[id].at_site.size()) return nullptr;
  return templates_[id].at_site[site].get();
}

std::optional<std::string_view> Graph::var(NodeId node, std::string_view key) const {
  const std::optional<Interner::Id> wanted = strings_.find(key);
  if (!wanted) return std::nullopt;
  for (VarsId id = nodes_[node].vars; id != kNoVars; id = blocks_[id].enclosing)
    for (std::uint32_t i = blocks_[id].begin; i < blocks_[id].end; ++i)
      if (vars_[i].key == *wanted) return strings_.view(vars_[i].value);
  return std::nullopt;
}

std::uint32_t epoch_of(const Graph& graph, NodeId node, std::string_view variable) {
  const std::string_view text = graph.var(node, variable).value_or("");
  std::uint32_t epoch = 0;
  std::from_chars(text.data(), text.data() + text.size(), epoch);
  return epoch;
}

std::span<const NodeId> Graph::children(NodeId node) const {
  return std::span(children_).subspan(child_begin_[node], child_begin_[node + 1] - child_begin_[node]);
}

std::span<const NodeId> Graph::parents(NodeId node) const {
  return std::span(parents_).subspan(parent_begin_[node], parent_begin_[node + 1] - parent_begin_[node]);
}

}  // namespace godwit::dag
