#include "godwit/experiment/template.h"

#include <algorithm>

namespace godwit::experiment {
namespace {

bool is_word_start(unsigned char c) {
  return std::isalpha(c) != 0 || c == '_';
}
bool is_word_byte(unsigned char c) {
  return std::isalnum(c) != 0 || c == '_';
}

// "word" or "word.word": the shape of a placeholder.
bool is_name(std::string_view text) {
  if (text.empty()) return false;
  bool at_start = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (at_start ? !is_word_start(byte) : !is_word_byte(byte) && c != '.') return false;
    at_start = c == '.';
  }
  return !at_start;
}

}  // namespace

BraceTemplate::BraceTemplate(const SubmitText& source) {
  const std::string_view text = source.text;
  Position position = source.origin;
  std::string literal;
  std::size_t open_escapes = 0;
  const auto is_at = [&](std::size_t i, std::string_view what) { return text.substr(i, what.size()) == what; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t step = 1;
    if (is_at(i, "{{")) {
      literal += '{';
      ++open_escapes;
      step = 2;
    } else if (open_escapes > 0 && is_at(i, "}}")) {
      literal += '}';
      --open_escapes;
      step = 2;
    } else if (const std::size_t close = text.find_first_of("}\n", i);
               text[i] == '{' && (i == 0 || text[i - 1] != '$') && close != std::string_view::npos &&
               text[close] == '}' && is_name(text.substr(i + 1, close - i - 1))) {
      step = close + 1 - i;
      pieces_.push_back({std::move(literal), braces_.size()});
      literal.clear();
      braces_.push_back({std::string(text.substr(i + 1, close - i - 1)), i, close + 1, position});
    } else {
      literal += text[i];
    }
    position.column += static_cast<std::uint32_t>(step);
    if (text[i] == '\n') {
      ++position.line;
      position.column = source.indent + 1;
      open_escapes = 0;
    }
    i += step;
  }
  pieces_.push_back({std::move(literal), std::nullopt});
}

std::string BraceTemplate::fill(const std::function<std::string(const Brace&)>& value) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    out += piece.literal;
    if (piece.brace) out += value(braces_[*piece.brace]);
  }
  return out;
}

std::optional<std::string> resource_value(const sites::Site& site, const sites::Site& defaults,
                                          std::string_view field) {
  static const sites::Site documented = [] {
    sites::Site out;
    out.cpus = sites::kDefaultCpus;
    out.mem_mb = sites::kDefaultMemoryMb;
    out.disk_kb = sites::kDefaultDiskKb;
    return out;
  }();
  for (const sites::Site* source : {&site, &defaults, &documented})
    if (auto text = sites::resource_text(*source, field)) return text;
  if (field == "gpus" || field == "gpu_memory") return "0";
  return std::nullopt;
}

}  // namespace godwit::experiment
