// YAML as a tree that remembers what was written and where.
//
// Godwit's files are for people, so a scalar keeps its text: `1e-4`, `007` and `no` arrive as written and become
// numbers or booleans only where a field asks for one. Stands on libyaml (YAML 1.1); anchors, aliases and `<<`
// merge keys work; JSON, being nearly a subset, reads too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/base/error.h"

namespace godwit::yaml {

enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

struct Entry;

class Node {
 public:
  Kind kind = Kind::null;
  bool quoted = false;         // a scalar in quotes or a block scalar: text even where it looks like a number
  bool block = false;          // a literal (|) or folded (>) block scalar
  std::string text;            // of a scalar (and of null: "", "~", "null")
  Position position;           // of the first byte of the value; for a block scalar: of its first line of text
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a mapping, in file order

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_mapping() const { return kind == Kind::mapping; }
  // The value under `key`, or nullptr.
  const Node* find(std::string_view key) const;
  // "a mapping", "a list", "text", "nothing": for messages.
  std::string kind_name() const;
};

struct Entry {
  std::string key;
  Position position;  // of the key
  Node value;
};

// Limits against hostile files: nesting depth, nodes after alias expansion, bytes.
struct Limits {
  std::size_t depth = 64;
  std::size_t nodes = 4'000'000;
  std::size_t bytes = 256u << 20;
};

// Reads one document. `file` names it in positions. Throws InputError (syntax, duplicate keys, limits, a key that
// is not text, more than one document, bytes that are not UTF-8).
Node parse(std::string_view text, const std::string& file, const Limits& limits = {});
// Throws SystemError where the file cannot be read.
Node load(const std::string& path, const Limits& limits = {});

// Reads the fields of one mapping and reports every fault to a Diagnostics: wrong types, and in finish() the keys
// that nobody asked for, with the nearest known name. Keys beginning with `x-` are the user's own where allowed.
class Fields {
 public:
  // `what` names the mapping in messages: "site 'delta'", "the experiment".
  Fields(const Node& node, Diagnostics& diagnostics, std::string what, bool allow_x_keys = false);

  bool has(std::string_view key) const;
  // Marks the key as known and returns its value; nullptr where absent or null.
  const Node* get(std::string_view key);
  // The same, but an explicit null (~, null, nothing) comes as its node.
  const Node* find(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<double> number(std::string_view key);
  std::optional<bool> boolean(std::string_view key);             // true/false/yes/no/on/off
  std::vector<std::string> texts(std::string_view key);          // one scalar or a list of scalars
  std::optional<std::int64_t> memory_mb(std::string_view key);   // "128GB", 131072 (MB)
  std::optional<std::int64_t> disk_kb(std::string_view key);     // "40GB", 41943040 (KB)
  std::optional<std::int64_t> duration_s(std::string_view key);  // "48h", "2d", "90m", 3600 (seconds)
  // Where the key's value is, or the mapping itself where the key is absent.
  Position position(std::string_view key) const;
  // Reports the keys that nobody asked for.
  void finish();

 private:
  // The value under `key` as `parse_text` (std::string_view → optional) makes of it; "'key' must be <must_be>"
  // where it gives nothing.
  template <typename Parse>
  auto parsed(std::string_view key, std::string_view must_be, std::string_view hint, Parse&& parse_text)
      -> decltype(parse_text(std::string_view{}));

  const Node& node_;
  Diagnostics& diagnostics_;
  std::string what_;
  bool allow_x_keys_;
  std::vector<std::string> known_;
};

}  // namespace godwit::yaml
