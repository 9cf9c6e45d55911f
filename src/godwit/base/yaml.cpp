#include "godwit/base/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "godwit/base/file.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"

namespace godwit::yaml {
namespace {

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

// Where things are in the text. libyaml counts characters; people's editors and our positions count lines and
// bytes.
class Places {
 public:
  Places(std::string_view text, const std::string& file) : text_(text), file_(file) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n' || (text[i] == '\r' && !text.substr(i + 1).starts_with('\n'))) line_starts_.push_back(i + 1);
  }

  // The byte offset of libyaml's mark. Marks come nearly in order, so a cursor walks there.
  std::size_t offset(const yaml_mark_t& mark) {
    while (character_ < mark.index && byte_ < text_.size()) {
      ++character_;
      do ++byte_;
      while (byte_ < text_.size() && continues(byte_));
    }
    while (character_ > mark.index && byte_ > 0) {
      --character_;
      do --byte_;
      while (byte_ > 0 && continues(byte_));
    }
    return byte_;
  }

  Position at_offset(std::size_t offset) const {
    const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    const auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
    return {file_, line, static_cast<std::uint32_t>(offset - *(after - 1) + 1)};
  }
  Position at(const yaml_mark_t& mark) { return at_offset(offset(mark)); }

  // The first line of a block scalar's text, at the column where its indentation ends. `begin` is at or before the
  // scalar's | or >.
  Position block_text(std::size_t begin, std::string_view value) const {
    begin = skip_properties(begin);
    const auto header = std::upper_bound(line_starts_.begin(), line_starts_.end(), begin);
    if (header == line_starts_.end()) return at_offset(begin);
    Position position{file_, static_cast<std::uint32_t>(header - line_starts_.begin() + 1), 1};
    // The indentation is what the first line with something in it has more in the file than in the value.
    for (auto line = header; line != line_starts_.end() && !value.empty(); ++line) {
      const std::string_view source = text_.substr(*line);
      const std::size_t spaces = std::min(source.find_first_not_of(' '), source.size());
      const bool blank = spaces == source.size() || source[spaces] == '\n' || source[spaces] == '\r';
      if (!blank) {
        const std::size_t kept = std::min(value.find_first_not_of(' '), value.size());
        if (spaces >= kept) position.column = static_cast<std::uint32_t>(spaces - kept + 1);
        break;
      }
      value.remove_prefix(std::min(value.find('\n'), value.size() - 1) + 1);
    }
    return position;
  }

 private:
  bool continues(std::size_t i) const { return (static_cast<unsigned char>(text_[i]) & 0xC0) == 0x80; }

  // Past anchors and tags.
  std::size_t skip_properties(std::size_t i) const {
    while (i < text_.size() && (text_[i] == '&' || text_[i] == '!')) {
      i = std::min(text_.find_first_of(" \t\r\n", i), text_.size());
      i = std::min(text_.find_first_not_of(" \t\r\n", i), text_.size());
    }
    return i;
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<std::size_t> line_starts_;
  std::size_t character_ = 0;
  std::size_t byte_ = 0;
};

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }
  yaml_event_t* operator->() { return &event_; }
  yaml_event_t* get() { return &event_; }

 private:
  yaml_event_t event_{};
};

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view{} : std::string_view(reinterpret_cast<const char*>(text));
}

// What to do about libyaml's commonest complaints.
std::string_view hint_for(std::string_view problem) {
  using Hint = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kHints = std::to_array<Hint>({
      {"mapping values are not allowed", "text with a colon and a space in it needs quotes around it"},
      {"found unexpected ':'", "text with a colon in it needs quotes around it"},
      {"cannot start any token", "indent with spaces, not tabs; text that begins with % @ ` or a tab needs quotes"},
      {"could not find expected ':'", "a line inside a mapping is `key: value`"},
  });
  for (const auto& [part, hint] : kHints)
    if (problem.find(part) != std::string_view::npos) return hint;
  return {};
}

// What a subtree costs when an alias repeats it.
struct Size {
  std::size_t nodes = 0;
  std::size_t bytes = 0;
  std::size_t depth = 0;
};

Size size_of(const Node& node) {
  Size size{1, node.text.size(), 1};
  const auto add = [&size](const Node& child) {
    const Size inner = size_of(child);
    size.nodes += inner.nodes;
    size.bytes += inner.bytes;
    size.depth = std::max(size.depth, inner.depth + 1);
  };
  for (const Node& item : node.items) add(item);
  for (const Entry& entry : node.entries) {
    size.bytes += entry.key.size();
    add(entry.value);
  }
  return size;
}

struct Anchor {
  Node node;
  Size size;
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, const Limits& limits)
      : file_(file), limits_(limits), places_(text, file) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { yaml_parser_delete(&parser_); }

  Node read() {
    Event event;
    expect(event, YAML_STREAM_START_EVENT);
    Node root = read_document();
    Event end;
    next(end);
    if (end->type != YAML_STREAM_END_EVENT)
      fail(places_.at(end->start_mark), "a second document begins here", "write one document in the file");
    diagnostics_.throw_if_errors();
    return root;
  }

 private:
  Node read_document() {
    Event start;
    next(start);
    if (start->type == YAML_STREAM_END_EVENT) fail({file_, 1, 1}, "the file is empty", "");
    Event first;
    next(first);
    Node root = read_node(first, 1);
    Event end;
    expect(end, YAML_DOCUMENT_END_EVENT);
    return root;
  }

  void next(Event& event) {
    if (yaml_parser_parse(&parser_, event.get()) == 0) fail_in_libyaml();
  }

  void expect(Event& event, yaml_event_type_t type) {
    next(event);
    if (event->type != type) fail(places_.at(event->start_mark), "not YAML here", "");
  }

  [[noreturn]] void fail(Position position, std::string message, std::string hint) {
    diagnostics_.error(std::move(position), std::move(message), {}, std::move(hint));
    diagnostics_.throw_if_errors();
    throw Error("unreachable: an error was just added");
  }

  [[noreturn]] void fail_in_libyaml() {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const std::string problem = parser_.problem == nullptr ? "not YAML" : parser_.problem;
    if (parser_.error == YAML_READER_ERROR) fail(places_.at_offset(parser_.problem_offset), problem, "");
    std::string hint(hint_for(problem));
    if (hint.empty() && parser_.context != nullptr)
      hint = fmt::format("{}, which begins at line {}", parser_.context, places_.at(parser_.context_mark).line);
    fail(places_.at(parser_.problem_mark), problem, std::move(hint));
  }

  // Counts what is being built against the limits.
  void spend(std::size_t nodes, std::size_t bytes, const Position& position) {
    nodes_ += nodes;
    bytes_ += bytes;
    if (nodes_ > limits_.nodes)
      fail(position,
           fmt::format("more than {}, aliases counted as often as used", format_count(limits_.nodes, "value")), "");
    if (bytes_ > limits_.bytes)
      fail(position, fmt::format("more than {} of text, aliases counted as often as used", format_bytes(limits_.bytes)),
           "");
  }

  void check_depth(std::size_t depth, const Position& position) {
    if (depth > limits_.depth)
      fail(position, fmt::format("nested more than {} deep", format_count(limits_.depth, "level")), "");
  }

  Node read_node(Event& event, std::size_t depth) {
    const Position position = places_.at(event->start_mark);
    check_depth(depth, position);
    if (event->type == YAML_ALIAS_EVENT) return copy_of_anchor(text_of(event->data.alias.anchor), depth, position);
    Node node;
    std::string anchor;
    switch (event->type) {
      case YAML_SCALAR_EVENT:
        anchor = text_of(event->data.scalar.anchor);
        node = scalar(event);
        break;
      case YAML_SEQUENCE_START_EVENT:
        anchor = text_of(event->data.sequence_start.anchor);
        check_tag(event->data.sequence_start.tag, position);
        node = sequence(depth);
        break;
      case YAML_MAPPING_START_EVENT:
        anchor = text_of(event->data.mapping_start.anchor);
        check_tag(event->data.mapping_start.tag, position);
        node = mapping(depth);
        break;
      default:
        fail(position, "not YAML here", "");
    }
    if (node.kind == Kind::sequence || node.kind == Kind::mapping) node.position = position;
    spend(1, node.text.size(), position);
    if (!anchor.empty()) {
      const Size size = size_of(node);
      spend(size.nodes, size.bytes, position);  // the copy that is kept for the aliases
      anchors_.insert_or_assign(std::move(anchor), Anchor{node, size});
    }
    return node;
  }

  Node copy_of_anchor(std::string_view name, std::size_t depth, const Position& position) {
    const auto found = anchors_.find(std::string(name));
    if (found == anchors_.end())
      fail(position, fmt::format("no anchor &{} before this alias", name), "an anchor ends before its aliases begin");
    const Anchor& anchor = found->second;
    check_depth(depth + anchor.size.depth - 1, position);
    spend(anchor.size.nodes, anchor.size.bytes, position);
    return anchor.node;
  }

  // Whether a tag says "text". Only YAML's own tags mean something to us.
  bool check_tag(const yaml_char_t* tag, const Position& position) {
    const std::string_view name = text_of(tag);
    if (name.empty()) return false;
    if (name == "!") return true;
    if (!name.starts_with(kCoreTag))
      diagnostics_.error(position, "tags like this one mean nothing here", std::string(name), "leave the tag out");
    return name.ends_with(":str");
  }

  Node scalar(Event& event) {
    const auto& data = event->data.scalar;
    Node node;
    node.kind = Kind::scalar;
    node.text.assign(reinterpret_cast<const char*>(data.value), data.length);
    const std::size_t begin = places_.offset(event->start_mark);
    node.block = data.style == YAML_LITERAL_SCALAR_STYLE || data.style == YAML_FOLDED_SCALAR_STYLE;
    node.position = node.block ? places_.block_text(begin, node.text) : places_.at_offset(begin);
    node.quoted = data.style != YAML_PLAIN_SCALAR_STYLE;
    if (check_tag(data.tag, node.position)) node.quoted = true;
    const bool null =
        node.text.empty() || node.text == "~" || node.text == "null" || node.text == "Null" || node.text == "NULL";
    if (!node.quoted && null) node.kind = Kind::null;
    return node;
  }

  Node sequence(std::size_t depth) {
    Node node;
    node.kind = Kind::sequence;
    for (;;) {
      Event event;
      next(event);
      if (event->type == YAML_SEQUENCE_END_EVENT) return node;
      node.items.push_back(read_node(event, depth + 1));
    }
  }

  Node mapping(std::size_t depth) {
    Node node;
    node.kind = Kind::mapping;
    std::unordered_map<std::string, std::uint32_t> lines;  // of the keys so far
    std::vector<std::size_t> merges;                       // entries that are `<<`
    for (;;) {
      Event event;
      next(event);
      if (event->type == YAML_MAPPING_END_EVENT) break;
      Node key = read_node(event, depth + 1);
      Event value_event;
      next(value_event);
      Entry entry{key.text, key.position, read_node(value_event, depth + 1)};
      if ((key.kind != Kind::scalar && key.kind != Kind::null) || (key.text.empty() && !key.quoted)) {
        diagnostics_.error(key.position, "a key must be text, not " + key.kind_name());
        continue;
      }
      if (key.text == "<<" && !key.quoted) {
        merges.push_back(node.entries.size());
      } else if (const auto [first, fresh] = lines.emplace(key.text, key.position.line); !fresh) {
        diagnostics_.error(key.position, "this key is here twice", key.text,
                           fmt::format("it is first at line {}", first->second));
        continue;
      }
      node.entries.push_back(std::move(entry));
    }
    if (!merges.empty()) merge(node, merges, lines);
    return node;
  }

  // YAML's merge keys (yaml.org/type/merge): a mapping or a list of them gives entries that the mapping does not
  // have itself; of two that give the same key, the earlier wins. They take the place of the `<<`.
  void merge(Node& node, const std::vector<std::size_t>& merges,
             const std::unordered_map<std::string, std::uint32_t>& own) {
    std::unordered_set<std::string> given;
    std::vector<Entry> entries;
    const auto take = [&](Node& source) {
      if (!source.is_mapping()) {
        diagnostics_.error(source.position,
                           "a merge key takes a mapping or a list of mappings, not " + source.kind_name());
        return;
      }
      for (Entry& entry : source.entries)
        if (!own.contains(entry.key) && given.insert(entry.key).second) entries.push_back(std::move(entry));
    };
    auto merged = merges.begin();
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
      if (merged == merges.end() || *merged != i) {
        entries.push_back(std::move(node.entries[i]));
        continue;
      }
      ++merged;
      Node& value = node.entries[i].value;
      if (value.is_sequence())
        for (Node& item : value.items) take(item);
      else
        take(value);
    }
    node.entries = std::move(entries);
  }

  const std::string& file_;
  const Limits& limits_;
  Places places_;
  yaml_parser_t parser_{};
  Diagnostics diagnostics_;
  std::unordered_map<std::string, Anchor> anchors_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

std::string shown(const Node& node) {
  return node.is_scalar() ? node.text : std::string{};
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

std::string Node::kind_name() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return "text";
    case Kind::sequence:
      return "a list";
    case Kind::mapping:
      return "a mapping";
  }
  return "nothing";
}

Node parse(std::string_view text, const std::string& file, const Limits& limits) {
  if (text.size() > limits.bytes)
    throw InputError({Severity::error, {file}, "the file is larger than " + format_bytes(limits.bytes), {}, {}});
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.find('\0') != std::string_view::npos)
    throw InputError({Severity::error, {file}, "this is a binary file, not YAML", {}, "a text in UTF-8 is expected"});
  if (const std::optional<std::size_t> bad = first_bad_utf8(text))
    throw InputError({Severity::error,
                      Places(text, file).at_offset(*bad),
                      "this is not UTF-8",
                      {},
                      fmt::format("the byte is 0x{:02X}; save the file as UTF-8",
                                  static_cast<unsigned>(static_cast<unsigned char>(text[*bad])))});
  return Reader(text, file, limits).read();
}

Node load(const std::string& path, const Limits& limits) {
  return parse(read_file(path, limits.bytes), path, limits);
}

Fields::Fields(const Node& node, Diagnostics& diagnostics, std::string what, bool allow_x_keys)
    : node_(node), diagnostics_(diagnostics), what_(std::move(what)), allow_x_keys_(allow_x_keys) {
  // A mapping with nothing in it is written as nothing at all.
  if (!node.is_mapping() && !node.is_null())
    diagnostics_.error(node.position, what_ + " must be a mapping (key: value), not " + node.kind_name(), shown(node));
}

bool Fields::has(std::string_view key) const {
  return node_.find(key) != nullptr;
}

const Node* Fields::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return node_.find(key);
}

const Node* Fields::get(std::string_view key) {
  const Node* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::string> Fields::text(std::string_view key) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_scalar()) return value->text;
  diagnostics_.error(value->position, fmt::format("'{}' must be text, not {}", key, value->kind_name()));
  return std::nullopt;
}

template <typename Parse>
auto Fields::parsed(std::string_view key, std::string_view must_be, std::string_view hint, Parse&& parse_text)
    -> decltype(parse_text(std::string_view{})) {
  const Node* value = get(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_scalar())
    if (auto result = parse_text(trim(value->text))) return result;
  diagnostics_.error(value->position, fmt::format("'{}' must be {}", key, must_be),
                     value->is_scalar() ? value->text : value->kind_name(), std::string(hint));
  return std::nullopt;
}

namespace {

template <typename Value>
std::optional<Value> number_from(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Value value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> boolean_from(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> Fields::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  const bool bounded = most != std::numeric_limits<std::int64_t>::max();
  const std::string must_be = bounded ? fmt::format("a whole number from {} to {}", least, most)
                                      : fmt::format("a whole number, {} or more", least);
  return parsed(key, must_be, "", [&](std::string_view text) {
    std::optional<std::int64_t> value = number_from<std::int64_t>(text);
    if (value && (*value < least || *value > most)) value.reset();
    return value;
  });
}

std::optional<double> Fields::number(std::string_view key) {
  return parsed(key, "a number", "", [](std::string_view text) {
    std::optional<double> value = number_from<double>(text);
    if (value && !std::isfinite(*value)) value.reset();
    return value;
  });
}

std::optional<bool> Fields::boolean(std::string_view key) {
  return parsed(key, "true or false", "", boolean_from);
}

std::vector<std::string> Fields::texts(std::string_view key) {
  const Node* value = get(key);
  if (value == nullptr) return {};
  if (value->is_scalar()) return {value->text};
  std::vector<std::string> out;
  if (!value->is_sequence())
    diagnostics_.error(value->position,
                       fmt::format("'{}' must be text or a list of texts, not {}", key, value->kind_name()));
  for (const Node& item : value->items) {
    if (item.is_scalar())
      out.push_back(item.text);
    else
      diagnostics_.error(item.position, fmt::format("'{}' must hold texts, not {}", key, item.kind_name()));
  }
  return out;
}

std::optional<std::int64_t> Fields::memory_mb(std::string_view key) {
  return parsed(key, "an amount of memory", "write 128GB, or 131072 for megabytes", parse_memory_mb);
}

std::optional<std::int64_t> Fields::disk_kb(std::string_view key) {
  return parsed(key, "an amount of disk", "write 40GB, or 41943040 for kilobytes", parse_disk_kb);
}

std::optional<std::int64_t> Fields::duration_s(std::string_view key) {
  return parsed(key, "a span of time", "write 48h, 2d, 90m, or 3600 for seconds", parse_duration_s);
}

Position Fields::position(std::string_view key) const {
  const Node* value = node_.find(key);
  return value == nullptr ? node_.position : value->position;
}

void Fields::finish() {
  for (const Entry& entry : node_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    if (allow_x_keys_ && entry.key.starts_with("x-")) continue;
    std::string hint = did_you_mean(entry.key, known_);
    if (hint.empty()) hint = "known here: " + join(known_, ", ");
    diagnostics_.error(entry.position, what_ + " has no such key", entry.key, std::move(hint));
  }
}

}  // namespace godwit::yaml
