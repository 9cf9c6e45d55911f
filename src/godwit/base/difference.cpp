#include "godwit/base/difference.h"

#include <algorithm>
#include <string_view>

#include "godwit/base/text.h"

namespace godwit {
namespace {

// Beyond so many pairs of lines, a text is said to differ as a whole.
constexpr std::size_t kMostLinePairs = 4'000'000;

// As one writes it in YAML's flow style, without quotes.
std::string flow_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.is_null() ? "nothing" : value.dump();
  std::string out;
  for (const auto& [key, item] : value.items()) {
    if (!out.empty()) out += ", ";
    if (value.is_object()) out += key + ": ";
    out += flow_text(item);
  }
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

bool has_lines(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().find('\n') != std::string::npos;
}

std::vector<std::string_view> lines_of(const Json& text) {
  std::vector<std::string_view> lines = split(text.get_ref<const std::string&>(), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// By the longest common subsequence of lines, after what is the same at both ends.
std::vector<std::string> line_difference(std::vector<std::string_view> before, std::vector<std::string_view> after) {
  while (!before.empty() && !after.empty() && before.back() == after.back()) before.pop_back(), after.pop_back();
  std::size_t same = 0;
  while (same < before.size() && same < after.size() && before[same] == after[same]) ++same;
  const std::size_t n = before.size() - same, m = after.size() - same;
  std::vector<std::string> out;
  const auto removed = [&](std::size_t i) { out.push_back("- " + std::string(before[same + i])); };
  const auto added = [&](std::size_t j) { out.push_back("+ " + std::string(after[same + j])); };
  std::size_t i = 0, j = 0;
  if (n != 0 && m != 0 && n * m <= kMostLinePairs) {
    std::vector<std::uint32_t> common((n + 1) * (m + 1));  // of what is left from line i and line j on
    const auto at = [&](std::size_t a, std::size_t b) -> std::uint32_t& { return common[a * (m + 1) + b]; };
    for (std::size_t a = n; a-- > 0;)
      for (std::size_t b = m; b-- > 0;)
        at(a, b) = before[same + a] == after[same + b] ? at(a + 1, b + 1) + 1 : std::max(at(a + 1, b), at(a, b + 1));
    while (i < n && j < m) {
      if (before[same + i] == after[same + j])
        ++i, ++j;
      else if (at(i + 1, j) >= at(i, j + 1))
        removed(i++);
      else
        added(j++);
    }
  }
  while (i < n) removed(i++);
  while (j < m) added(j++);
  return out;
}

void compare(const std::string& path, const Json* before, const Json* after, std::vector<Difference>& out) {
  if (before != nullptr && after != nullptr) {
    if (*before == *after) return;
    if (before->is_object() && after->is_object()) {
      const auto member_of = [](const Json& object, const std::string& key) -> const Json* {
        const auto found = object.find(key);
        return found == object.end() ? nullptr : &*found;
      };
      const std::string prefix = path.empty() ? "" : path + ".";
      for (const auto& [key, value] : after->items()) compare(prefix + key, member_of(*before, key), &value, out);
      for (const auto& [key, value] : before->items())
        if (!after->contains(key)) compare(prefix + key, &value, nullptr, out);
      return;
    }
  }
  Difference difference{
      path, before == nullptr ? "" : flow_text(*before), after == nullptr ? "" : flow_text(*after), {}};
  const auto text = [](const Json* value) { return value == nullptr || value->is_string(); };
  const bool lines = (before != nullptr && has_lines(*before)) || (after != nullptr && has_lines(*after));
  if (lines && text(before) && text(after))
    difference.lines = line_difference(before == nullptr ? std::vector<std::string_view>{} : lines_of(*before),
                                       after == nullptr ? std::vector<std::string_view>{} : lines_of(*after));
  out.push_back(std::move(difference));
}

}  // namespace

std::vector<Difference> differences(const Json& before, const Json& after) {
  std::vector<Difference> out;
  compare("", &before, &after, out);
  return out;
}

Json to_json(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::Kind::null:
      return nullptr;
    case yaml::Kind::scalar:
      return node.text;
    case yaml::Kind::sequence: {
      Json out = Json::array();
      for (const yaml::Node& item : node.items) out.push_back(to_json(item));
      return out;
    }
    case yaml::Kind::mapping: {
      Json out = Json::object();
      for (const yaml::Entry& entry : node.entries) out[entry.key] = to_json(entry.value);
      return out;
    }
  }
  return nullptr;
}

}  // namespace godwit
