#include <algorithm>
#include <array>
#include <map>

#include "godwit/base/printable.h"
#include "godwit/dag/render.h"

namespace godwit::dag {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// At most `most` characters; UTF-8 sequences stay whole.
std::string shortened(std::string_view text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (++characters > most) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

// Colours that people with any colour vision tell apart (Okabe and Ito, 2008), light enough for dark text.
constexpr std::array<const char*, 8> kColours = {"#56b4e9", "#e69f00", "#35b58c", "#f0e442",
                                                 "#cc79a7", "#e0814a", "#9ecae1", "#bdbdbd"};

constexpr int kNodeHeight = 30, kColumnGap = 40, kLineGap = 10, kRowGap = 22, kMargin = 20, kCharacter = 7;

class Picture {
 public:
  explicit Picture(const Graph& graph) : graph_(graph) {
    find_columns();
    find_lines();
    measure();
  }

  std::string text() {
    legend();
    for (const auto& [row, label] : labels_) row_label(row, label);
    for (const Edge& edge : graph_.edges()) edge_line(edge);
    for (NodeId node = 0; node < graph_.size(); ++node) node_box(node);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width_) + "\" height=\"" +
           std::to_string(height_) + "\" viewBox=\"0 0 " + std::to_string(width_) + ' ' + std::to_string(height_) +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n<title>" + escaped(graph_.name) +
           "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + body_ + "</svg>\n";
  }

 private:
  // Runs are the rows; nodes without a run share the first.
  std::size_t row_of(NodeId node) const {
    const RunId run = graph_.run_of(node);
    return run == kNoRun ? 0 : std::size_t{1} + run;
  }

  void find_columns() {
    std::vector<std::size_t> waiting(graph_.size());
    std::vector<NodeId> ready;
    column_.assign(graph_.size(), 0);
    for (NodeId node = 0; node < graph_.size(); ++node) {
      waiting[node] = graph_.parents(node).size();
      if (waiting[node] == 0) ready.push_back(node);
    }
    for (std::size_t done = 0; done < ready.size(); ++done)
      for (const NodeId child : graph_.children(ready[done])) {
        column_[child] = std::max(column_[child], column_[ready[done]] + 1);
        if (--waiting[child] == 0) ready.push_back(child);
      }
  }

  // Nodes of one row and column lie below each other, training jobs on top.
  void find_lines() {
    line_.assign(graph_.size(), 0);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> used;
    for (const bool training : {true, false})
      for (NodeId node = 0; node < graph_.size(); ++node) {
        if ((graph_.kind(node) == NodeKind::train) != training) continue;
        line_[node] = used[{row_of(node), column_[node]}]++;
        std::size_t& lines = lines_in_row_[row_of(node)];
        lines = std::max(lines, line_[node] + 1);
      }
  }

  void measure() {
    std::size_t longest = 6, columns = 0, longest_label = 0;
    for (NodeId node = 0; node < graph_.size(); ++node) {
      longest = std::max(longest, std::min<std::size_t>(label_of(node).size(), kMostLabel));
      columns = std::max(columns, column_[node] + 1);
    }
    node_width_ = static_cast<int>(longest) * kCharacter + 16;
    int y = kMargin + 30;
    for (const auto& [row, lines] : lines_in_row_) {
      row_top_[row] = y;
      y += static_cast<int>(lines) * (kNodeHeight + kLineGap) - kLineGap + kRowGap;
      if (row > 0 && row <= graph_.runs().size()) {
        labels_[row] = run_title(graph_.runs()[row - 1]);
        longest_label = std::max(longest_label, labels_[row].size());
      }
    }
    left_ = kMargin + static_cast<int>(std::min(longest_label, kMostLabel)) * kCharacter + (labels_.empty() ? 0 : 12);
    width_ = std::max(left_ + static_cast<int>(columns) * (node_width_ + kColumnGap) - kColumnGap + kMargin, 240);
    height_ = y - kRowGap + kMargin;
  }

  // The row says the run already.
  std::string_view label_of(NodeId node) const {
    const std::string_view name = graph_.name_of(node);
    const std::size_t dash = name.find('-');
    return graph_.run_of(node) != kNoRun && name.starts_with("run") && dash != std::string_view::npos
               ? name.substr(dash + 1)
               : name;
  }

  int x_of(NodeId node) const { return left_ + static_cast<int>(column_[node]) * (node_width_ + kColumnGap); }
  int y_of(NodeId node) const {
    return row_top_.at(row_of(node)) + static_cast<int>(line_[node]) * (kNodeHeight + kLineGap);
  }

  static std::string attribute(const char* name, int value) {
    return std::string(" ") + name + "=\"" + std::to_string(value) + '"';
  }
  static const char* colour(std::size_t site) { return kColours[site % kColours.size()]; }

  void put_text(int x, int y, std::string_view extra, std::string_view text) {
    body_ += "<text" + attribute("x", x) + attribute("y", y) + std::string(extra) + '>' + escaped(text) + "</text>\n";
  }

  void legend() {
    int x = kMargin;
    for (std::size_t site = 0; site < graph_.sites().size(); ++site) {
      const std::string name = shortened(graph_.sites()[site], kMostLabel);
      body_ += "<rect" + attribute("x", x) + attribute("y", kMargin - 8) +
               " width=\"12\" height=\"12\" rx=\"2\" fill=\"" + colour(site) + "\"/>\n";
      put_text(x + 17, kMargin + 3, " fill=\"#333333\"", name);
      x += 17 + static_cast<int>(name.size()) * kCharacter + 18;
    }
    width_ = std::max(width_, x);
  }

  void row_label(std::size_t row, const std::string& label) {
    put_text(kMargin, row_top_.at(row) + kNodeHeight / 2 + 4, " fill=\"#555555\"", shortened(label, kMostLabel));
  }

  void edge_line(const Edge& edge) {
    const int x1 = x_of(edge.parent) + node_width_, y1 = y_of(edge.parent) + kNodeHeight / 2;
    const int x2 = x_of(edge.child), y2 = y_of(edge.child) + kNodeHeight / 2;
    const int bend = std::max(kColumnGap / 2, (x2 - x1) / 3);
    const auto point = [](int x, int y) { return std::to_string(x) + ',' + std::to_string(y); };
    body_ += "<path d=\"M" + point(x1, y1) + " C" + point(x1 + bend, y1) + ' ' + point(x2 - bend, y2) + ' ' +
             point(x2, y2) + "\" fill=\"none\" stroke=\"#999999\"/>\n";
  }

  void node_box(NodeId node) {
    const SiteId site = graph_.planned_site(node);
    const int round = graph_.kind(node) == NodeKind::evaluate ? kNodeHeight / 2 : 4;
    std::string title(graph_.name_of(node));
    if (site < graph_.sites().size()) title += " at " + graph_.sites()[site];
    body_ += "<g><title>" + escaped(title) + "</title><rect" + attribute("x", x_of(node)) + attribute("y", y_of(node)) +
             attribute("width", node_width_) + attribute("height", kNodeHeight) + attribute("rx", round) + " fill=\"" +
             (graph_.kind(node) == NodeKind::noop ? "#ffffff" : colour(site)) + "\" stroke=\"#555555\"/>";
    put_text(x_of(node) + node_width_ / 2, y_of(node) + kNodeHeight / 2 + 4, " text-anchor=\"middle\" fill=\"#1a1a1a\"",
             shortened(label_of(node), kMostLabel));
    body_ += "</g>\n";
  }

  static constexpr std::size_t kMostLabel = 28;

  const Graph& graph_;
  std::vector<std::size_t> column_, line_;
  std::map<std::size_t, std::size_t> lines_in_row_;
  std::map<std::size_t, int> row_top_;
  std::map<std::size_t, std::string> labels_;
  int node_width_ = 0, left_ = 0, width_ = 0, height_ = 0;
  std::string body_;
};

}  // namespace

std::string render_svg(const Graph& graph) {
  return Picture(graph).text();
}

}  // namespace godwit::dag
