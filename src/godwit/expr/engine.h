// Expressions in variables, constraints and policies: JavaScript (ECMAScript 5.1, by Duktape).
//
// An expression sees its parameters and these functions and constants, and nothing outside: min max abs floor ceil
// round trunc sqrt cbrt exp log log2 log10 pow sign sin cos tan asin acos atan atan2 hypot, PI, E, and the
// standard Math (without random), String, Number, Array, Object, JSON, RegExp. There is no clock and no
// randomness, so the same parameters always give the same value. Everything shared is frozen: one evaluation
// cannot change the next.
//
// Operators are JavaScript's: && || ! rather than and, or, not; == compares "1" and 1 as equal. Of later editions there
// is **; there are no arrow functions, let, const, template literals, spread, ?? and ?.
// (docs/reference/expressions.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "godwit/base/error.h"

namespace godwit::expr {

using Value = std::variant<bool, double, std::string>;

// How an expression sees a variable's text: a decimal number as a number, `true` and `false` as booleans, anything
// else as a string.
Value value_of(std::string_view text);
// JavaScript's idea of truth: not false, 0 or "".
bool is_true(const Value& value);
// A value as text: numbers with 15 significant digits (format_double15).
std::string text_of(const Value& value);

struct Limits {
  std::chrono::milliseconds time{100};   // of processor time, per evaluation
  std::size_t memory_bytes = 16u << 20;  // of what an Engine holds beside the language itself
  std::size_t source_bytes = 64u << 10;  // of one expression
};

class Heap;

// A compiled expression; keeps its engine's heap alive. Cheap to copy.
class Expression {
 public:
  // Values of the parameters, in their order. Throws InputError (at the expression's position): it threw, it took
  // too long or too much memory, or it gave neither number, text nor boolean.
  Value evaluate(std::span<const Value> arguments) const;
  // The same with variables' texts (value_of).
  Value evaluate(std::span<const std::string_view> arguments) const;
  // The same as text_of(evaluate()).
  std::string text(std::span<const std::string_view> arguments) const;
  // Whether it holds: is_true(evaluate()).
  bool holds(std::span<const std::string_view> arguments) const;

  const std::string& source() const { return source_; }
  const std::vector<std::string>& parameters() const { return parameters_; }
  const Position& position() const { return position_; }

 private:
  friend class Engine;
  std::shared_ptr<Heap> heap_;
  unsigned index_ = 0;  // of the function in the heap's stash
  std::string source_;
  std::vector<std::string> parameters_;
  Position position_;
};

// A name that an expression uses from outside, and where.
struct Name {
  std::string name;
  Position position;
};

// The free identifiers of an expression, each once, in order of appearance: what it needs from its parameters or
// the globals. Names that it defines itself (function parameters, var) are left out. `origin` is where its first
// byte is.
std::vector<Name> names_in(std::string_view source, const Position& origin = {});

// One JavaScript heap. Not for use by several threads at once; engines do not share anything.
class Engine {
 public:
  explicit Engine(const Limits& limits = {});

  // Compiles `source`, whose first byte is at `origin`, as an expression over `parameters`. Throws InputError: it is
  // no expression, or uses names that are neither parameters nor globals, for which the nearest of `suggestions` (the
  // parameters, unless given) is suggested.
  Expression compile(std::string_view source, std::vector<std::string> parameters, const Position& origin = {},
                     std::span<const std::string> suggestions = {}) const;
  bool has_global(std::string_view name) const;

 private:
  std::shared_ptr<Heap> heap_;
};

}  // namespace godwit::expr
