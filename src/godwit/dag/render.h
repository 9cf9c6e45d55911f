// A Graph as a picture: Graphviz's DOT, Mermaid's flowchart, or SVG by a layout of our own: a row per run, a column per
// level (the longest way from a node without parents).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "godwit/dag/graph.h"

namespace godwit::dag {

enum class PictureFormat : std::uint8_t { dot, mermaid, svg };

// "dot", "mermaid", "svg".
std::optional<PictureFormat> picture_format_from(std::string_view text);

// Beyond these nobody sees anything, and Mermaid refuses more than 500 edges.
inline constexpr std::size_t kMostPictureNodes = 2000;
inline constexpr std::size_t kMostMermaidEdges = 500;

// The graph must be frozen. Throws InputError where it is too large to draw.
std::string render(const Graph& graph, PictureFormat format);

// "run 3 (baseline) alpha=1e-4".
std::string run_title(const Run& run);

// The parts of render().
std::string render_dot(const Graph& graph);
std::string render_mermaid(const Graph& graph);
std::string render_svg(const Graph& graph);

}  // namespace godwit::dag
