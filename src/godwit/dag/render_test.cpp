#include "godwit/dag/render.h"

#include <doctest/doctest.h>

#include <array>

#include "godwit/base/error.h"

namespace godwit::dag {
namespace {

Graph example() {
  Graph graph;
  graph.name = "A \"small\" <one>";
  graph.add_site("here");
  const SiteId there = graph.add_site("there");
  Run run;
  run.values = {{"alpha", "1e-4"}};
  const RunId id = graph.add_run(run);
  const NodeId setup = graph.add_node("setup", NodeKind::job, 0, 0);
  const NodeId first = graph.add_node("run0-train_epoch0", NodeKind::train, 0, 0, 0, kNoVars, id);
  const NodeId score = graph.add_node("run0-eval_epoch1", NodeKind::evaluate, 0, there, 0, kNoVars, id);
  const NodeId second = graph.add_node("run0-train_epoch1", NodeKind::train, 0, there, 0, kNoVars, id);
  graph.add_edge(setup, first);
  graph.add_edge(first, score);
  graph.add_edge(first, second);
  graph.freeze();
  return graph;
}

TEST_CASE("DOT") {
  CHECK(render(example(), PictureFormat::dot) == R"(digraph "A \"small\" <one>" {
  rankdir=LR;
  node [fontname="sans-serif"];
    "setup" [shape=box, label="setup @ here"];
  subgraph "cluster_run0" {
    label="run 0 alpha=1e-4";
    "run0-train_epoch0" [shape=box, label="run0-train_epoch0 @ here"];
    "run0-eval_epoch1" [shape=ellipse, label="run0-eval_epoch1 @ there"];
    "run0-train_epoch1" [shape=box, label="run0-train_epoch1 @ there"];
  }
  "setup" -> "run0-train_epoch0";
  "run0-train_epoch0" -> "run0-eval_epoch1";
  "run0-train_epoch0" -> "run0-train_epoch1";
}
)");
}

TEST_CASE("Mermaid") {
  CHECK(render(example(), PictureFormat::mermaid) == R"(flowchart LR
    n0["setup @ here"]
  subgraph run0["run 0 alpha=1e-4"]
    n1["run0-train_epoch0 @ here"]
    n2(["run0-eval_epoch1 @ there"])
    n3["run0-train_epoch1 @ there"]
  end
  n0 --> n1
  n1 --> n2
  n1 --> n3
)");
}

// The value of an attribute of the box whose title begins with `node`.
int box(const std::string& svg, const std::string& node, const std::string& attribute) {
  const std::size_t title = svg.find("<title>" + node + " at ");
  REQUIRE(title != std::string::npos);
  const std::size_t value = svg.find(' ' + attribute + "=\"", title) + attribute.size() + 3;
  return std::stoi(svg.substr(value));
}

TEST_CASE("SVG has a row per run, a column per level, no two boxes in one place") {
  const std::string svg = render(example(), PictureFormat::svg);
  CHECK(svg.find("<title>A &quot;small&quot; &lt;one&gt;</title>") != std::string::npos);
  CHECK(box(svg, "setup", "x") < box(svg, "run0-train_epoch0", "x"));
  CHECK(box(svg, "setup", "y") < box(svg, "run0-train_epoch0", "y"));
  CHECK(box(svg, "run0-train_epoch0", "y") == box(svg, "run0-train_epoch1", "y"));
  CHECK(box(svg, "run0-train_epoch1", "x") == box(svg, "run0-eval_epoch1", "x"));
  CHECK(box(svg, "run0-train_epoch1", "y") < box(svg, "run0-eval_epoch1", "y"));
  CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("the empty graph can be drawn") {
  Graph graph;
  graph.freeze();
  for (const auto format : {PictureFormat::dot, PictureFormat::mermaid, PictureFormat::svg})
    CHECK_FALSE(render(graph, format).empty());
}

TEST_CASE("a graph too large to see is refused") {
  Graph graph;
  for (int i = 0; i < 3000; ++i) graph.add_node("n" + std::to_string(i), NodeKind::job, 0, 0);
  graph.freeze();
  CHECK_THROWS_WITH_AS(render(graph, PictureFormat::svg),
                       doctest::Contains("the graph has 3,000 nodes; such a picture shows at most 2,000 nodes"),
                       InputError);
}

TEST_CASE("formats by name") {
  CHECK(picture_format_from("svg") == PictureFormat::svg);
  CHECK(picture_format_from("dot") == PictureFormat::dot);
  CHECK(picture_format_from("mermaid") == PictureFormat::mermaid);
  CHECK_FALSE(picture_format_from("png").has_value());
}

}  // namespace
}  // namespace godwit::dag
