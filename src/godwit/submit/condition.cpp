#include "godwit/submit/condition.h"

#include <charconv>
#include <optional>

#include "godwit/base/text.h"
#include "godwit/submit/macro.h"

namespace godwit::submit {
namespace {

std::optional<bool> literal(std::string_view text) {
  for (const std::string_view word : {"true", "yes", "t"})
    if (equal_ignoring_case(text, word)) return true;
  for (const std::string_view word : {"false", "no", "f"})
    if (equal_ignoring_case(text, word)) return false;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number < 0 || number > 0;
  return std::nullopt;
}

[[noreturn]] void fail(std::string_view condition) {
  if (condition.starts_with("version"))
    throw InputError("conditions on HTCondor's version cannot be decided here",
                     "a description that runs on every site has no HTCondor version; test a variable instead");
  if (condition.empty()) throw InputError("a condition is missing", "write 'if defined NAME' or 'if $(NAME)'");
  throw InputError("not a condition: '" + std::string(condition) + "'",
                   "conditions are 'defined NAME', true, false or a number, with '!' before them to negate; no "
                   "comparisons");
}

// The name after `defined`; nullopt where the condition is another one.
std::optional<std::string_view> defined_name(std::string_view condition) {
  constexpr std::string_view kDefined = "defined";
  if (condition.size() < kDefined.size() || !equal_ignoring_case(condition.substr(0, kDefined.size()), kDefined))
    return std::nullopt;
  const std::string_view rest = condition.substr(kDefined.size());
  const std::string_view name = trim(rest);
  if (!rest.empty() && name.size() == rest.size()) return std::nullopt;  // "definedx"
  if (!name.empty() && !is_macro_name(name))
    throw InputError("'defined' wants the name of one macro: '" + std::string(name) + "'");
  return name;
}

std::string_view without_negation(std::string_view condition, bool& negated) {
  condition = trim(condition);
  negated = condition.starts_with('!');
  return negated ? trim(condition.substr(1)) : condition;
}

}  // namespace

bool test_condition(std::string_view condition, const Lookup& find) {
  const bool has_macros = condition.find('$') != std::string_view::npos;
  const std::string expanded = has_macros ? expand_macros(condition, find) : std::string(condition);
  bool negated = false;
  const std::string_view plain = without_negation(expanded, negated);
  if (plain.empty() && has_macros) return negated;
  if (const auto name = defined_name(plain)) {
    if (name->empty() || literal(*name)) return name->empty() == negated;
    const auto value = find(lower(*name));
    return (value && !value->empty()) != negated;
  }
  const auto value = literal(plain);
  if (!value) fail(plain);
  return *value != negated;
}

void check_condition(std::string_view condition) {
  if (MacroScanner(condition).next()) return;
  bool negated = false;
  const std::string_view plain = without_negation(condition, negated);
  if (defined_name(plain)) return;
  if (!literal(plain)) fail(plain);
}

}  // namespace godwit::submit
