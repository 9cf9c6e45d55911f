// Any bytes: either a tree whose every place is inside the text, or an InputError.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"

namespace {

using namespace godwit;

// Whether a line and column name a byte of the text, or the place just after its last.
class Text {
 public:
  explicit Text(std::string_view text) {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const bool lone_return = i < text.size() && text[i] == '\r' && !text.substr(i + 1).starts_with('\n');
      if (i < text.size() && text[i] != '\n' && !lone_return) continue;
      line_ends_.push_back(i);
    }
  }
  // A block scalar's first line may be blank, shorter than its indentation.
  void check(const Position& position, bool block = false) const {
    if (position.line == 0 || position.line > line_ends_.size() + 1 || position.column == 0) std::abort();
    if (position.line > line_ends_.size() || block) return;
    const std::size_t begin = position.line == 1 ? 0 : line_ends_[position.line - 2] + 1;
    if (position.column > line_ends_[position.line - 1] - begin + 1) std::abort();
  }

 private:
  std::vector<std::size_t> line_ends_;
};

void walk(const yaml::Node& node, const Text& text) {
  text.check(node.position, node.block);
  for (const yaml::Node& item : node.items) walk(item, text);
  for (const yaml::Entry& entry : node.entries) {
    text.check(entry.position);
    if (std::count_if(node.entries.begin(), node.entries.end(),
                      [&](const yaml::Entry& other) { return other.key == entry.key; }) != 1)
      std::abort();
    walk(entry.value, text);
  }
}

// Every kind of field, for each key of the top.
void read_fields(const yaml::Node& root) {
  Diagnostics diagnostics;
  yaml::Fields fields(root, diagnostics, "the input");
  for (std::size_t i = 0; i < std::min<std::size_t>(root.entries.size(), 20); ++i) {
    const std::string& key = root.entries[i].key;
    fields.text(key);
    fields.texts(key);
    fields.integer(key, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    fields.number(key);
    fields.boolean(key);
    fields.memory_mb(key);
    fields.disk_kb(key);
    fields.duration_s(key);
  }
  fields.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const yaml::Node root = yaml::parse(text, "input", {.depth = 32, .nodes = 2000, .bytes = 1u << 18});
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    walk(root, Text(text));
    read_fields(root);
  } catch (const InputError& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}
