#include "godwit/dag/graph.h"

#include <doctest/doctest.h>

#include <map>

#include "godwit/base/error.h"

namespace godwit::dag {
namespace {

NodeId job(Graph& graph, std::string_view name) {
  return graph.add_node(name, NodeKind::job, 0, 0);
}

std::vector<NodeId> list(std::span<const NodeId> ids) {
  return {ids.begin(), ids.end()};
}

std::map<std::string, std::string> vars_of(const Graph& graph, NodeId node) {
  std::map<std::string, std::string> out;
  graph.each_var(node, [&](std::string_view key, std::string_view value) {
    CHECK(out.emplace(key, value).second);  // each key once
  });
  return out;
}

Var var(Graph& graph, std::string_view key, std::string_view value) {
  return {graph.strings().intern(key), graph.strings().intern(value)};
}

std::string freeze_error(Graph& graph) {
  try {
    graph.freeze();
  } catch (const InputError& error) {
    return error.diagnostics().at(0).message;
  }
  return {};
}

TEST_CASE("a diamond has its children and parents in the order of its edges") {
  Graph graph;
  const NodeId a = job(graph, "a"), b = job(graph, "b"), c = job(graph, "c"), d = job(graph, "d");
  graph.add_edge(a, c);
  graph.add_edge(a, b);
  graph.add_edge(b, d);
  graph.add_edge(c, d);
  graph.freeze();
  CHECK(list(graph.children(a)) == std::vector<NodeId>{c, b});
  CHECK(list(graph.parents(d)) == std::vector<NodeId>{b, c});
  CHECK(graph.parents(a).empty());
  CHECK(graph.children(d).empty());
}

TEST_CASE("an edge said twice counts once") {
  Graph graph;
  const NodeId a = job(graph, "a"), b = job(graph, "b"), c = job(graph, "c");
  graph.add_edge(a, b);
  graph.add_edge(a, c);
  graph.add_edge(a, b);
  graph.freeze();
  CHECK(graph.edges().size() == 2);
  CHECK(list(graph.children(a)) == std::vector<NodeId>{b, c});
  CHECK(list(graph.parents(b)) == std::vector<NodeId>{a});
}

TEST_CASE("a cycle is shown as a path") {
  SUBCASE("of three nodes, behind one that is not part of it") {
    Graph graph;
    const NodeId start = job(graph, "start"), a = job(graph, "a"), b = job(graph, "b"), c = job(graph, "c"),
                 after = job(graph, "after");
    graph.add_edge(start, a);
    graph.add_edge(a, b);
    graph.add_edge(b, c);
    graph.add_edge(c, a);
    graph.add_edge(c, after);
    CHECK(freeze_error(graph) == "the graph has a cycle: a → b → c → a");
  }
  SUBCASE("of one node") {
    Graph graph;
    const NodeId a = job(graph, "a");
    graph.add_edge(a, a);
    CHECK(freeze_error(graph) == "the graph has a cycle: a → a");
  }
  SUBCASE("of very many nodes: shortened") {
    Graph graph;
    for (int i = 0; i < 1000; ++i) job(graph, "n" + std::to_string(i));
    for (NodeId i = 0; i < 1000; ++i) graph.add_edge(i, (i + 1) % 1000);
    const std::string path = freeze_error(graph);
    CHECK(path.starts_with("the graph has a cycle: n0 → n1 → n2 →"));
    CHECK(path.ends_with("→ … (987 more) → n0"));
  }
}

TEST_CASE("nodes are found by name, also those added after the first search") {
  Graph graph;
  CHECK_FALSE(graph.find("a").has_value());
  for (int i = 0; i < 100; ++i) job(graph, "n" + std::to_string(i));
  CHECK(graph.find("n42") == 42);
  for (int i = 100; i < 5000; ++i) job(graph, "n" + std::to_string(i));
  CHECK(graph.find("n42") == 42);
  CHECK(graph.find("n4999") == 4999);
  CHECK_FALSE(graph.find("n5000").has_value());

  SUBCASE("and in a graph that has moved") {
    Graph small;
    job(small, "a");
    CHECK(small.find("a") == 0);
    const Graph moved = std::move(small);
    CHECK(moved.find("a") == 0);
  }
}

TEST_CASE("inner variables win over enclosing ones") {
  Graph graph;
  const VarsId outer = graph.add_vars(kNoVars, std::vector{var(graph, "a", "1"), var(graph, "b", "2")});
  const VarsId inner =
      graph.add_vars(outer, std::vector{var(graph, "b", "x"), var(graph, "b", "3"), var(graph, "c", "4")});
  const NodeId node = graph.add_node("n", NodeKind::train, 0, 0, 0, inner);
  const NodeId bare = job(graph, "bare");
  CHECK(vars_of(graph, node) == std::map<std::string, std::string>{{"a", "1"}, {"b", "3"}, {"c", "4"}});
  CHECK(graph.var(node, "b") == "3");
  CHECK(graph.var(node, "a") == "1");
  CHECK_FALSE(graph.var(node, "d").has_value());
  CHECK_FALSE(graph.var(bare, "a").has_value());
  CHECK(vars_of(graph, bare).empty());

  SUBCASE("however deep they nest") {
    VarsId block = inner;
    for (int i = 0; i < 40; ++i)
      block = graph.add_vars(block, std::vector{var(graph, "v" + std::to_string(i % 7), "deep")});
    const NodeId deep = graph.add_node("deep", NodeKind::job, 0, 0, 0, block);
    CHECK(graph.var(deep, "a") == "1");
    const auto vars = vars_of(graph, deep);
    CHECK(vars.size() == 3 + 7);
    CHECK(vars.at("b") == "3");
  }
}

TEST_CASE("equal attributes share an id") {
  Graph graph;
  Attributes retried;
  retried.retries = 3;
  Attributes scripted = retried;
  scripted.post = Script{"check.sh", {"$RETURN"}};
  CHECK(graph.add_attributes({}) == 0);
  const AttributesId first = graph.add_attributes(retried);
  const AttributesId second = graph.add_attributes(scripted);
  CHECK(first != second);
  CHECK(graph.add_attributes(retried) == first);
  CHECK(graph.add_attributes(scripted) == second);
}

TEST_CASE("a template's description is looked up by site") {
  Graph graph;
  const SiteId here = graph.add_site("here"), there = graph.add_site("there");
  CHECK(graph.add_site("here") == here);
  const auto description = std::make_shared<const submit::Description>();
  const TemplateId train = graph.add_template({"train", {nullptr, description}});
  const NodeId node = graph.add_node("n", NodeKind::train, train, there);
  CHECK(graph.description(node, there) == description.get());
  CHECK(graph.description(node, here) == nullptr);
  CHECK(graph.planned_site(node) == there);
}

TEST_CASE("the last limit of a category holds") {
  Graph graph;
  graph.set_category_limit("gpu", 4);
  graph.set_category_limit("cpu", 2);
  graph.set_category_limit("gpu", 8);
  CHECK(graph.category_limits() == std::vector<std::pair<std::string, std::uint32_t>>{{"gpu", 8}, {"cpu", 2}});
}

}  // namespace
}  // namespace godwit::dag
