#include "godwit/dag/render.h"

#include <map>

#include "godwit/base/error.h"
#include "godwit/base/printable.h"
#include "godwit/base/units.h"

namespace godwit::dag {

std::optional<PictureFormat> picture_format_from(std::string_view text) {
  if (text == "dot") return PictureFormat::dot;
  if (text == "mermaid") return PictureFormat::mermaid;
  if (text == "svg") return PictureFormat::svg;
  return std::nullopt;
}

std::string render(const Graph& graph, PictureFormat format) {
  const auto too_large = [&](std::size_t count, const char* what, std::size_t most) {
    throw InputError(
        "the graph has " + format_count(count, what) + "; such a picture shows at most " + format_count(most, what),
        "draw a smaller sweep: keep a few runs by 'include', or fewer epochs");
  };
  if (graph.size() > kMostPictureNodes) too_large(graph.size(), "node", kMostPictureNodes);
  switch (format) {
    case PictureFormat::dot:
      return render_dot(graph);
    case PictureFormat::mermaid:
      if (graph.edges().size() > kMostMermaidEdges) too_large(graph.edges().size(), "edge", kMostMermaidEdges);
      return render_mermaid(graph);
    case PictureFormat::svg:
      return render_svg(graph);
  }
  return {};
}

namespace {

// Shapes say what a node is, in both languages.
struct Shape {
  const char* dot;
  const char* mermaid_open;
  const char* mermaid_close;
};

Shape shape_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::evaluate:
      return {"ellipse", "([", "])"};
    case NodeKind::noop:
      return {"point", "((", "))"};
    case NodeKind::service:
      return {"hexagon", "{{", "}}"};
    case NodeKind::train:
    case NodeKind::job:
      break;
  }
  return {"box", "[", "]"};
}

// The nodes of each run, runs in order; those that belong to none come first.
std::map<std::int64_t, std::vector<NodeId>> nodes_by_run(const Graph& graph) {
  std::map<std::int64_t, std::vector<NodeId>> runs;
  for (NodeId node = 0; node < graph.size(); ++node) {
    const RunId run = graph.run_of(node);
    runs[run == kNoRun ? -1 : static_cast<std::int64_t>(run)].push_back(node);
  }
  return runs;
}

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string mermaid_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '#' || c == '<' || c == '>' || c == '&')
      out += '#' + std::to_string(static_cast<int>(c)) + ';';
    else
      out += c;
  }
  return out + '"';
}

std::string_view site_of(const Graph& graph, NodeId node) {
  const SiteId site = graph.planned_site(node);
  return site < graph.sites().size() ? std::string_view(graph.sites()[site]) : std::string_view{};
}

}  // namespace

std::string run_title(const Run& run) {
  std::string title = "run " + std::to_string(run.number);
  if (run.baseline) title += " (baseline)";
  for (const auto& [name, value] : run.values) title += ' ' + name + '=' + value;
  return title;
}

std::string render_dot(const Graph& graph) {
  std::string out = "digraph " + dot_quoted(graph.name) + " {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n";
  for (const auto& [run, nodes] : nodes_by_run(graph)) {
    const bool grouped = run >= 0 && static_cast<std::size_t>(run) < graph.runs().size();
    if (grouped)
      out += "  subgraph " + dot_quoted("cluster_run" + std::to_string(run)) +
             " {\n    label=" + dot_quoted(run_title(graph.runs()[static_cast<std::size_t>(run)])) + ";\n";
    for (const NodeId node : nodes) {
      std::string label(graph.name_of(node));
      if (!site_of(graph, node).empty()) label += " @ " + std::string(site_of(graph, node));
      out += "    " + dot_quoted(graph.name_of(node)) + " [shape=" + shape_of(graph.kind(node)).dot +
             ", label=" + dot_quoted(label) + "];\n";
    }
    if (grouped) out += "  }\n";
  }
  for (const Edge& edge : graph.edges())
    out += "  " + dot_quoted(graph.name_of(edge.parent)) + " -> " + dot_quoted(graph.name_of(edge.child)) + ";\n";
  return out + "}\n";
}

std::string render_mermaid(const Graph& graph) {
  std::string out = "flowchart LR\n";
  for (const auto& [run, nodes] : nodes_by_run(graph)) {
    const bool grouped = run >= 0 && static_cast<std::size_t>(run) < graph.runs().size();
    if (grouped)
      out += "  subgraph run" + std::to_string(run) + '[' +
             mermaid_quoted(run_title(graph.runs()[static_cast<std::size_t>(run)])) + "]\n";
    for (const NodeId node : nodes) {
      const Shape shape = shape_of(graph.kind(node));
      std::string label(graph.name_of(node));
      if (!site_of(graph, node).empty()) label += " @ " + std::string(site_of(graph, node));
      out += "    n" + std::to_string(node) + shape.mermaid_open + mermaid_quoted(label) + shape.mermaid_close + '\n';
    }
    if (grouped) out += "  end\n";
  }
  for (const Edge& edge : graph.edges())
    out += "  n" + std::to_string(edge.parent) + " --> n" + std::to_string(edge.child) + '\n';
  return out;
}

}  // namespace godwit::dag
