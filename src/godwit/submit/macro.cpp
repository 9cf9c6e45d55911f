#include "godwit/submit/macro.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "godwit/base/text.h"

namespace godwit::submit {
namespace {

constexpr bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::size_t name_end(std::string_view text, std::size_t from) {
  while (from < text.size() && is_name_byte(text[from])) ++from;
  return from;
}

// $F(…) takes option letters after the F.
bool is_macro_function(std::string_view name) {
  constexpr auto kFunctions =
      std::to_array<std::string_view>({"ENV", "RANDOM_CHOICE", "RANDOM_INTEGER", "CHOICE", "INT", "SUBSTR", "REAL",
                                       "STRING", "EVAL", "BASENAME", "DIRNAME"});
  if (std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end()) return true;
  return name.starts_with('F') && name.find_first_not_of("fpduwnxbqa", 1) == std::string_view::npos;
}

}  // namespace

Diagnostic placed(const InputError& error, Position position, std::string text) {
  Diagnostic diagnostic = error.diagnostics().front();
  diagnostic.position = std::move(position);
  if (!text.empty()) diagnostic.text = std::move(text);
  return diagnostic;
}

bool is_macro_name(std::string_view text) {
  return !text.empty() && name_end(text, 0) == text.size();
}

bool is_built_in_macro(std::string_view name) {
  constexpr auto kBuiltIn = std::to_array<std::string_view>(
      {"cluster", "clusterid", "process", "procid", "job", "node", "retry", "dagmanjobid", "dollar", "failed_count",
       "dag_status", "step", "row", "itemindex", "godwit_attempt"});
  return std::find(kBuiltIn.begin(), kBuiltIn.end(), name) != kBuiltIn.end();
}

// --- scanning ---------------------------------------------------------------------------------------------------

MacroScanner::MacroScanner(std::string_view text) : text_(text) {
  if (text.find('$') == std::string_view::npos) {
    position_ = text.size();
    return;
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') open.push_back(i);
    if (text[i] != ')' || open.empty()) continue;
    parentheses_.emplace_back(open.back(), i);
    open.pop_back();
  }
  std::sort(parentheses_.begin(), parentheses_.end());
}

std::size_t MacroScanner::closing(std::size_t opening) const {
  const auto found = std::lower_bound(parentheses_.begin(), parentheses_.end(), std::pair{opening, std::size_t{0}});
  return found != parentheses_.end() && found->first == opening ? found->second : std::string_view::npos;
}

std::optional<Macro> MacroScanner::macro_at(std::size_t dollar) const {
  Macro macro;
  macro.begin = dollar;
  const std::size_t opening = name_end(text_, dollar + 1);
  if (opening >= text_.size() || text_[opening] != '(') return std::nullopt;
  const std::string_view function = text_.substr(dollar + 1, opening - dollar - 1);
  if (!function.empty()) {
    if (!is_macro_function(function)) return std::nullopt;
    macro.kind = function == "ENV" ? Macro::Kind::environment : Macro::Kind::function;
  }
  const std::size_t close = closing(opening);
  if (close == std::string_view::npos) return std::nullopt;
  macro.end = close + 1;
  macro.name = function;
  macro.name_begin = dollar + 1;
  if (macro.kind == Macro::Kind::function) return macro;
  const std::size_t end = name_end(text_, opening + 1);
  macro.name_begin = opening + 1;
  macro.name = text_.substr(opening + 1, end - opening - 1);
  if (macro.name.empty() || (end != close && text_[end] != ':')) return std::nullopt;
  if (end != close) {
    macro.fallback_begin = end + 1;
    macro.fallback = text_.substr(end + 1, close - end - 1);
  }
  return macro;
}

std::optional<Macro> MacroScanner::next() {
  while ((position_ = text_.find('$', position_)) != std::string_view::npos) {
    if (position_ + 1 < text_.size() && text_[position_ + 1] == '$') {
      position_ += 2;
      continue;
    }
    if (auto macro = macro_at(position_)) {
      position_ = macro->end;
      return macro;
    }
    ++position_;
  }
  position_ = text_.size();
  return std::nullopt;
}

namespace {

constexpr std::size_t kMaxDepth = 64;  // macros within macros

void each_macro(std::string_view text, std::size_t offset, std::size_t depth,
                const std::function<void(const Macro&, std::size_t)>& fn) {
  MacroScanner scanner(text);
  while (const auto macro = scanner.next()) {
    fn(*macro, offset + macro->name_begin);
    if (macro->fallback && depth < kMaxDepth)
      each_macro(*macro->fallback, offset + macro->fallback_begin, depth + 1, fn);
  }
}

}  // namespace

void each_macro(std::string_view text, const std::function<void(const Macro&, std::size_t)>& fn) {
  each_macro(text, 0, 0, fn);
}

// --- expanding --------------------------------------------------------------------------------------------------

namespace {

class Expander {
 public:
  explicit Expander(const Lookup& find) : find_(find) {}

  void run(std::string_view text, std::string& out) {
    spend(text.size() + kMacroWork);
    MacroScanner scanner(text);
    std::size_t copied = 0;
    while (const auto macro = scanner.next()) {
      copy(text.substr(copied, macro->begin - copied), out);
      copied = macro->end;
      replace(*macro, out);
    }
    copy(text.substr(copied), out);
  }

  void run_within(std::string_view name, std::string_view text, std::string& out) {
    if (!name.empty() && std::find(within_.begin(), within_.end(), name) != within_.end()) fail_circular(name);
    if (within_.size() >= kMaxDepth) throw InputError("macros within macros more than 64 deep");
    within_.emplace_back(name);
    run(text, out);
    within_.pop_back();
  }

 private:
  void spend(std::size_t bytes) {
    work_ += bytes;
    if (work_ > kMaxExpansionWork)
      throw InputError("the macros of this value expand to too much", "does one of them repeat another many times?");
  }

  void copy(std::string_view text, std::string& out) {
    spend(text.size());
    out += text;
  }

  void replace(const Macro& macro, std::string& out) {
    if (macro.kind == Macro::Kind::function)
      throw InputError("the macro function $" + std::string(macro.name) + "(…) is not available",
                       "write the value out, or compute it as an expression among the variables");
    if (macro.kind == Macro::Kind::environment) {
      if (const char* value = std::getenv(std::string(macro.name).c_str())) return copy(value, out);
      return macro.fallback ? run_fallback(macro, out) : copy("UNDEFINED", out);
    }
    const std::string name = lower(macro.name);
    if (name == "dollar") return copy("$", out);
    if (const auto value = find_(name); value && !value->empty()) return run_within(name, *value, out);
    run_fallback(macro, out);
  }

  void run_fallback(const Macro& macro, std::string& out) {
    if (macro.fallback) run_within("", *macro.fallback, out);
  }

  [[noreturn]] void fail_circular(std::string_view name) const {
    std::string path;
    for (auto it = std::find(within_.begin(), within_.end(), name); it != within_.end(); ++it) path += *it + " → ";
    throw InputError("circular macro: " + path + std::string(name));
  }

  const Lookup& find_;
  std::vector<std::string> within_;
  std::size_t work_ = 0;
};

}  // namespace

std::string expand_macros(std::string_view text, const Lookup& find, std::string_view within) {
  std::string out;
  Expander expander(find);
  if (within.empty())
    expander.run(text, out);
  else
    expander.run_within(within, text, out);
  return out;
}

namespace {

void expand_self(std::string_view text, std::string_view name, const std::optional<std::string>& earlier,
                 std::size_t depth, std::string& out) {
  MacroScanner scanner(text);
  std::size_t copied = 0;
  while (const auto macro = scanner.next()) {
    const bool self = macro->kind == Macro::Kind::value && lower(macro->name) == name;
    if (!self && !macro->fallback) continue;
    if (out.size() > kMaxExpansionWork || depth > kMaxDepth) break;  // evaluate() or expand_macros() reports it
    const std::size_t keep_to = self ? macro->begin : macro->fallback_begin;
    out += text.substr(copied, keep_to - copied);
    copied = self ? macro->end : macro->end - 1;
    if (self && earlier && !earlier->empty())
      out += *earlier;
    else if (macro->fallback)
      expand_self(*macro->fallback, name, earlier, depth + 1, out);
  }
  out += text.substr(copied);
}

}  // namespace

std::string expand_self(std::string_view text, std::string_view name, const std::optional<std::string>& earlier) {
  std::string out;
  expand_self(text, name, earlier, 0, out);
  return out;
}

}  // namespace godwit::submit
