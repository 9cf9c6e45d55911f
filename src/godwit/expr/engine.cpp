#include "godwit/expr/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "godwit/base/decimal.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/expr/heap.h"
#include "godwit/expr/scan.h"

namespace godwit::expr {
namespace {

std::optional<double> number_of(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  // from_chars also reads "inf" and "nan".
  if (digits.empty() || std::string_view("0123456789.").find(digits[0]) == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return text.starts_with('-') ? -value : value;
}

[[noreturn]] void fail(const Position& position, std::string message, std::string source) {
  throw InputError(Diagnostic{Severity::error, position, std::move(message), std::move(source), {}});
}

// What people bring from other languages.
std::string hint_for(std::string_view name, std::span<const std::string> suggestions) {
  struct Word {
    std::string_view word;
    std::string_view write;
  };
  constexpr std::string_view kLogic = "&& for and, || for or, ! for not";
  static constexpr std::array kWords = std::to_array<Word>({{"and", kLogic},
                                                            {"or", kLogic},
                                                            {"not", kLogic},
                                                            {"None", "null"},
                                                            {"True", "true"},
                                                            {"False", "false"},
                                                            {"len", "text.length"},
                                                            {"str", "String(x)"},
                                                            {"int", "trunc(x)"},
                                                            {"float", "Number(x)"},
                                                            {"lambda", "function (x) { return x * 2; }"}});
  for (const Word& known : kWords)
    if (name == known.word) return fmt::format("expressions are JavaScript: write {}", known.write);
  return did_you_mean(name, suggestions);
}

struct CompileCall {
  Heap* heap;
  const char* text;
  std::size_t size;
  unsigned index;
};

duk_ret_t compile_body(duk_context* context, void* data) {
  auto* const call = static_cast<CompileCall*>(data);
  duk_eval_lstring(context, call->text, call->size);
  call->index = call->heap->keep();
  duk_push_undefined(context);
  return 1;
}

struct EvaluateCall {
  Heap* heap;
  unsigned index;
  const Value* arguments;
  std::size_t count;
};

void push(duk_context* context, const Value& value) {
  if (const auto* number = std::get_if<double>(&value))
    duk_push_number(context, *number);
  else if (const auto* truth = std::get_if<bool>(&value))
    duk_push_boolean(context, *truth ? 1 : 0);
  else
    duk_push_lstring(context, std::get<std::string>(value).data(), std::get<std::string>(value).size());
}

duk_ret_t evaluate_body(duk_context* context, void* data) {
  const auto* const call = static_cast<const EvaluateCall*>(data);
  duk_require_stack(context, static_cast<duk_idx_t>(call->count + 4));
  call->heap->push_kept(call->index);
  for (std::size_t i = 0; i < call->count; ++i) push(context, call->arguments[i]);
  duk_call(context, static_cast<duk_idx_t>(call->count));
  return 1;
}

struct GlobalCall {
  const char* name;
  std::size_t size;
};

duk_ret_t has_global_body(duk_context* context, void* data) {
  const auto* const call = static_cast<const GlobalCall*>(data);
  duk_push_global_object(context);
  duk_push_lstring(context, call->name, call->size);
  duk_push_boolean(context, duk_has_prop(context, -2));
  return 1;
}

// The value on top of the stack, which is popped; nullopt where it is no value that has a text.
std::optional<Value> pop_value(duk_context* context) {
  std::optional<Value> value;
  if (duk_is_number(context, -1)) {
    if (const double number = duk_get_number(context, -1); std::isfinite(number)) value = number;
  } else if (duk_is_boolean(context, -1)) {
    value = duk_get_boolean(context, -1) != 0;
  } else if (duk_is_string(context, -1) && !duk_is_symbol(context, -1)) {
    duk_size_t size = 0;
    const char* text = duk_get_lstring(context, -1, &size);
    if (!first_bad_utf8({text, size})) value = std::string(text, size);
  }
  duk_pop(context);
  return value;
}

std::vector<Value> values_of(std::span<const std::string_view> texts) {
  std::vector<Value> values;
  values.reserve(texts.size());
  for (const std::string_view text : texts) values.push_back(value_of(text));
  return values;
}

}  // namespace

Value value_of(std::string_view text) {
  if (const std::optional<double> number = number_of(text)) return *number;
  if (text == "true") return true;
  if (text == "false") return false;
  return std::string(text);
}

bool is_true(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number != 0;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  return !std::get<std::string>(value).empty();
}

std::string text_of(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return format_double15(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return std::get<std::string>(value);
}

Engine::Engine(const Limits& limits) : heap_(std::make_shared<Heap>(limits)) {}

bool Engine::has_global(std::string_view name) const {
  GlobalCall call{name.data(), name.size()};
  if (heap_->run(has_global_body, &call)) return false;
  return pop_value(heap_->context()) == Value(true);
}

Expression Engine::compile(std::string_view source, std::vector<std::string> parameters, const Position& origin,
                           std::span<const std::string> suggestions) const {
  const std::string shown(trim(source));
  if (shown.empty()) fail(origin, "the expression is empty", {});
  if (source.size() > heap_->limits().source_bytes)
    fail(origin, "the expression is longer than " + format_bytes(heap_->limits().source_bytes), {});
  const Scan found = scan(source, origin);
  if (found.fault) throw InputError(*found.fault);
  Diagnostics unknown;
  for (const Name& name : found.names)
    if (std::find(parameters.begin(), parameters.end(), name.name) == parameters.end() && !has_global(name.name))
      unknown.error(name.position, "neither a variable nor a function has this name", name.name,
                    hint_for(name.name, suggestions.empty() ? std::span<const std::string>(parameters) : suggestions));
  unknown.throw_if_errors();

  // On a line of its own, so that a comment at its end does not hide what follows.
  std::string text = "(function(";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i != 0) text += ',';
    text += is_keyword(parameters[i]) ? fmt::format("$keyword{}", i) : parameters[i];
  }
  constexpr int kLinesBefore = 1;
  text += "){'use strict';return(\n";
  text += source;
  text += "\n);})";
  CompileCall call{heap_.get(), text.data(), text.size(), 0};
  if (const auto failure = heap_->run(compile_body, &call)) {
    Position position = origin;
    const auto lines = static_cast<int>(std::count(source.begin(), source.end(), '\n'));
    if (failure->line > kLinesBefore + 1)
      position.line += static_cast<std::uint32_t>(std::min(failure->line - kLinesBefore - 1, lines));
    fail(position, "this is not an expression: " + failure->message, shown);
  }
  duk_pop(heap_->context());
  Expression expression;
  expression.heap_ = heap_;
  expression.index_ = call.index;
  expression.source_ = shown;
  expression.parameters_ = std::move(parameters);
  expression.position_ = origin;
  return expression;
}

Value Expression::evaluate(std::span<const Value> arguments) const {
  EvaluateCall call{heap_.get(), index_, arguments.data(), arguments.size()};
  if (const auto failure = heap_->run(evaluate_body, &call))
    fail(position_, "the expression fails: " + failure->message, source_);
  const std::string kind = duk_is_number(heap_->context(), -1) ? "a finite number" : "a number, text, true or false";
  std::optional<Value> value = pop_value(heap_->context());
  if (!value) fail(position_, "the expression does not give " + kind, source_);
  return *std::move(value);
}

Value Expression::evaluate(std::span<const std::string_view> arguments) const {
  return evaluate(std::span<const Value>(values_of(arguments)));
}

std::string Expression::text(std::span<const std::string_view> arguments) const {
  return text_of(evaluate(arguments));
}

bool Expression::holds(std::span<const std::string_view> arguments) const {
  return is_true(evaluate(arguments));
}

}  // namespace godwit::expr
