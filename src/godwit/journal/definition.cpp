#include "godwit/journal/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "godwit/base/json.h"

namespace godwit::journal {
namespace {

void append_text(std::string& out, std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain)
    out.append("\"").append(text).append("\"");
  else
    out += dump(Json(text));
}

void append_member(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out.append(",\"").append(key).append("\":");
  append_text(out, value);
}

void append_node(std::string& out, const NodeDefinition& node) {
  out += "{\"name\":";
  append_text(out, node.name);
  append_member(out, "kind", node.kind);
  append_member(out, "run", node.run);
  append_member(out, "site", node.site);
  if (node.last_epoch != 0)
    fmt::format_to(std::back_inserter(out), ",\"first_epoch\":{},\"last_epoch\":{}", node.first_epoch, node.last_epoch);
  out += '}';
}

// Follows the parser through {"nodes":[{…}],"edges":[[p,c]]}. Depth 1 is the outer object, 2 a list, 3 an entry.
class NodesReader : public nlohmann::json_sax<Json> {
 public:
  NodesReader(const std::function<void(const NodeDefinition&)>& on_node,
              const std::function<void(const EdgeDefinition&)>& on_edge)
      : on_node_(on_node), on_edge_(on_edge) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool number_unsigned(number_unsigned_t value) override {
    if (value > std::numeric_limits<std::uint32_t>::max()) return false;
    const auto number = static_cast<std::uint32_t>(value);
    if (depth_ != 3) return true;
    if (section_ == "nodes" && key_ == "first_epoch") first_epoch_ = number;
    if (section_ == "nodes" && key_ == "last_epoch") last_epoch_ = number;
    if (section_ == "edges" && edge_ends_ < 2) edge_[edge_ends_++] = number;
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ != 3 || section_ != "nodes") return true;
    if (std::string* field = field_of(key_)) *field = value;
    return true;
  }

  bool key(string_t& value) override {
    if (depth_ == 1) section_ = value;
    if (depth_ == 3) key_ = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (++depth_ == 3) start_entry();
    return true;
  }
  bool start_array(std::size_t) override {
    if (++depth_ == 3) start_entry();
    return depth_ > 1;
  }
  bool end_object() override {
    if (depth_-- == 3 && section_ == "nodes") on_node_({name_, kind_, run_, site_, first_epoch_, last_epoch_});
    return true;
  }
  bool end_array() override {
    if (depth_-- == 3 && section_ == "edges" && edge_ends_ == 2) on_edge_({edge_[0], edge_[1]});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::string* field_of(std::string_view key) {
    if (key == "name") return &name_;
    if (key == "kind") return &kind_;
    if (key == "run") return &run_;
    if (key == "site") return &site_;
    return nullptr;
  }

  void start_entry() {
    for (std::string* field : {&name_, &kind_, &run_, &site_}) field->clear();
    first_epoch_ = last_epoch_ = 0;
    edge_ends_ = 0;
  }

  const std::function<void(const NodeDefinition&)>& on_node_;
  const std::function<void(const EdgeDefinition&)>& on_edge_;
  int depth_ = 0;
  std::string section_, key_;
  std::string name_, kind_, run_, site_;
  std::uint32_t first_epoch_ = 0, last_epoch_ = 0;
  std::uint32_t edge_[2] = {0, 0};
  int edge_ends_ = 0;
};

}  // namespace

std::string nodes_json(NodeIndex first, std::span<const NodeDefinition> nodes, std::span<const EdgeDefinition> edges) {
  std::string out = fmt::format("{{\"first\":{},\"nodes\":[", first);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i != 0) out += ',';
    append_node(out, nodes[i]);
  }
  out += "],\"edges\":[";
  for (std::size_t i = 0; i < edges.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}[{},{}]", i == 0 ? "" : ",", edges[i].parent, edges[i].child);
  out += "]}";
  return out;
}

bool read_nodes(std::string_view json, const std::function<void(const NodeDefinition&)>& on_node,
                const std::function<void(const EdgeDefinition&)>& on_edge) {
  NodesReader reader(on_node, on_edge);
  return Json::sax_parse(json.begin(), json.end(), &reader);
}

}  // namespace godwit::journal
