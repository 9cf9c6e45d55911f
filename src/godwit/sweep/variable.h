// The variables of an experiment: what `vars:` says, as sources of values that know their number before any is
// made.
//
//   vars:
//     epochs: 30                                              # a plain scalar is a value …
//     optimizer: [adam, sgd]                                  # … and a plain list a list
//     depth:  {type: value, value: 4, description: "layers"}  # `description` may stand in every one
//     alpha:  {type: range, start: 0, stop: 10, step: 1}      # half-open; start 0 and step 1 unless said;
//                                                             # `stop_inclusive: true` closes it
//     decay:  {type: linspace, start: 0, stop: 1, num: 5}     # `endpoint: false` leaves the last out
//     lr:     {type: logspace, start: -4, stop: -1, num: 4}   # base^start … base^stop; `base` is 10 unless said
//     mode:   {type: list, values: [a, b], zip: pair}         # variables of a zip group advance together
//     pairs:  {type: zip, vars: {a: [1, 2], b: [3, 4]}}       # the same, written as one block
//     noise:  {type: random, distribution: log_uniform, low: 1e-5, high: 1e-1, count: 20}
//     points: {type: table, rows: [{x: 1, y: 2}, {x: 3, y: 4}]}   # its columns are the variables;
//                                                                 # or `columns: [x, y]` and rows of lists,
//                                                                 # or `file: points.csv` (.tsv, .yaml, .json,
//                                                                 .txt)
//     width:  {type: expression, expression: "depth * 64"}    # JavaScript (expr/engine.h), from the other
//     variables
//
// Distributions: uniform and log_uniform (low, high), integer (low to high, both possible), normal (mean 0, std 1
// unless said), choice (values, weights). `count` values are drawn (1 unless said); which ones depends on the
// experiment's seed and the variable's name alone. `digits` rounds them to so many significant digits.
//
// A written value keeps its text (1e-4, 007, no); what is computed is decimal (base/decimal.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"
#include "godwit/expr/engine.h"

namespace godwit::sweep {

enum class Type : std::uint8_t { value, range, linspace, logspace, list, random, table, expression };
std::string_view to_string(Type type);

// An expression over variables: its parameters are the variables it uses, `inputs` their indices in Variables::all().
struct Formula {
  expr::Expression expression;
  std::vector<std::uint32_t> inputs;
};

// Where a variable's values come from. Values are made when asked for, so a range of 10^12 costs nothing.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t count() const = 0;
  virtual std::string text(std::uint64_t index) const = 0;  // index < count(); canonical or as written
};

struct Variable {
  std::string name;
  Type type = Type::value;
  std::string description;
  Position position;                     // of its name
  std::shared_ptr<const Source> source;  // nullptr for an expression
  std::optional<Formula> formula;        // of an expression
  std::uint64_t count() const { return source ? source->count() : 1; }
};

// Variables that advance together: one alone, the columns of a table, or a zip group.
struct Axis {
  std::vector<std::uint32_t> variables;  // indices into Variables::all()
  std::uint64_t count = 0;
};

struct Options {
  std::string seed;            // the experiment's seed, for random variables
  std::string base_directory;  // where `file:` starts and what it cannot leave; empty: no files are read
  expr::Limits limits = {};    // of the expressions
};

class Variables {
 public:
  // In the order of the file: the first varies slowest in the sweep.
  std::span<const Variable> all() const { return variables_; }
  std::span<const Axis> axes() const { return axes_; }
  // Expressions, each after those it uses: indices into all().
  std::span<const std::uint32_t> expressions() const { return expressions_; }
  // Names are HTCondor macros' names, so case does not matter.
  const Variable* find(std::string_view name) const;
  std::optional<std::uint32_t> index_of(std::string_view name) const;
  // The value of a variable that has exactly one and is no expression.
  std::optional<std::string> single(std::string_view name) const;
  // Compiles an expression over the variables. What is wrong goes to `diagnostics`; nullopt then.
  std::optional<Formula> compile(std::string_view source, const Position& position, Diagnostics& diagnostics) const;
  // Whether a table could not be read, so that there may be variables of any name.
  bool has_unread_table() const { return has_unread_table_; }

 private:
  friend class VariablesReader;
  std::vector<Variable> variables_;
  std::vector<Axis> axes_;
  std::vector<std::uint32_t> expressions_;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // lower case
  bool has_unread_table_ = false;
  expr::Limits limits_;
  mutable std::shared_ptr<const expr::Engine> engine_;  // made for the first expression
};

// Reads `vars:`. What is wrong goes to `diagnostics`, all of it at once; what was right is returned.
Variables read(const yaml::Node& vars, const Options& options, Diagnostics& diagnostics);

// Whether a name belongs to Godwit or HTCondor: epoch, run_uuid, JOB, Cluster … Case does not matter.
bool is_reserved(std::string_view name);

}  // namespace godwit::sweep
