#include "godwit/sweep/sweep.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "godwit/base/decimal.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"

namespace godwit::sweep {
namespace {

using Id = Interner::Id;
constexpr Id kNoId = std::numeric_limits<Id>::max();
constexpr std::uint64_t kMostKept = 1'000'000;  // values of one variable whose ids are kept

std::uint64_t product_or_most(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

// Equal texts, or equal numbers: 1.0 matches 1.
bool same_value(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::optional<Decimal> number = Decimal::parse(a);
  return number && number == Decimal::parse(b);
}

// A mapping under include or exclude: values for some variables.
struct Given {
  std::uint32_t variable;
  Id value;
};
struct Match {
  std::vector<Given> values;
  Position position;
};

}  // namespace

struct Sweep::State {
  Variables variables;
  std::vector<std::string> names;
  Interner strings;
  std::vector<Formula> keep, drop;  // include and exclude expressions
  std::vector<Match> drop_matches;
  std::vector<std::vector<Id>> extras;  // include mappings as whole combinations; kNoId where an expression goes

  std::vector<std::vector<Id>> ids;                // by variable: the ids of its values, kNoId where not made yet
  std::vector<std::optional<expr::Value>> values;  // by id: as expressions see it
  std::vector<std::set<std::vector<Id>>> rows;     // by axis, where there are extras
  std::optional<std::uint64_t> count;

  std::uint64_t most_of_product() const {
    std::uint64_t most = 1;
    for (const Axis& axis : variables.axes()) most = product_or_most(most, axis.count);
    return most;
  }

  // --- reading include and exclude ------------------------------------------------------------------------------

  template <typename ReadMapping>
  void read_filters(const yaml::Node& node, std::vector<Formula>& formulas, Diagnostics& diagnostics,
                    ReadMapping read_mapping) {
    const auto read_item = [&](const yaml::Node& item) {
      if (item.is_scalar()) {
        if (std::optional<Formula> formula = variables.compile(item.text, item.position, diagnostics))
          formulas.push_back(*std::move(formula));
      } else if (item.is_mapping() && !item.entries.empty()) {
        read_mapping(item);
      } else {
        diagnostics.error(item.position,
                          "a filter is an expression or a mapping from variable to value, not " + item.kind_name());
      }
    };
    if (!node.is_sequence()) return node.is_null() ? void() : read_item(node);
    for (const yaml::Node& item : node.items) read_item(item);
  }

  std::optional<Match> read_match(const yaml::Node& mapping, Diagnostics& diagnostics) {
    Match match{{}, mapping.position};
    bool good = true;
    for (const yaml::Entry& entry : mapping.entries) {
      const std::optional<std::uint32_t> index = variables.index_of(entry.key);
      const bool text = entry.value.is_scalar() || (entry.value.is_null() && !entry.value.text.empty());
      good = good && index && text;
      if (!index)
        diagnostics.error(entry.position, "there is no such variable", entry.key, did_you_mean(entry.key, names));
      if (!text)
        diagnostics.error(entry.value.position,
                          "a variable's value here is one text or number, not " + entry.value.kind_name());
      if (index && text) match.values.push_back({*index, strings.intern(entry.value.text)});
    }
    if (!good) return std::nullopt;
    return match;
  }

  void read_extra(const yaml::Node& mapping, Diagnostics& diagnostics) {
    const std::optional<Match> match = read_match(mapping, diagnostics);
    if (!match) return;
    std::vector<Id> extra(names.size(), kNoId);
    for (const Given& given : match->values) {
      if (variables.all()[given.variable].type == Type::expression)
        return diagnostics.error(match->position, "an included combination cannot say what an expression gives",
                                 names[given.variable]);
      extra[given.variable] = given.value;
    }
    for (std::uint32_t v = 0; v < names.size(); ++v) {
      const Variable& variable = variables.all()[v];
      if (extra[v] != kNoId || variable.type == Type::expression) continue;
      if (variable.count() != 1)
        return diagnostics.error(match->position,
                                 "an included combination must say every variable that has more than "
                                 "one value; it lacks",
                                 names[v]);
      extra[v] = id_of(v, 0);
    }
    extras.push_back(std::move(extra));
  }

  // --- values ---------------------------------------------------------------------------------------------------

  Id id_of(std::uint32_t variable, std::uint64_t index) {
    const Variable& source = variables.all()[variable];
    try {
      if (source.count() > kMostKept) return strings.intern(source.source->text(index));
      std::vector<Id>& known = ids[variable];
      if (known.empty()) known.assign(source.count(), kNoId);
      if (known[index] == kNoId) known[index] = strings.intern(source.source->text(index));
      return known[index];
    } catch (const DecimalOverflow& error) {
      throw InputError(Diagnostic{Severity::error, source.position, error.what(), source.name, error.hint()});
    }
  }

  const expr::Value& value_of(Id id) {
    if (values.size() <= id) values.resize(std::max<std::size_t>(id + 1, values.size() * 2));
    if (!values[id]) values[id] = expr::value_of(strings.view(id));
    return *values[id];
  }

  // Calls fn(expression, arguments) and says for which values it failed, if it does.
  template <typename Fn>
  auto with_arguments(const Formula& formula, std::span<const Id> combination, Fn fn) {
    std::vector<expr::Value> arguments;
    arguments.reserve(formula.inputs.size());
    for (const std::uint32_t input : formula.inputs) arguments.push_back(value_of(combination[input]));
    try {
      return fn(formula.expression, std::span<const expr::Value>(arguments));
    } catch (const InputError& error) {
      std::string given;
      for (const std::uint32_t input : formula.inputs)
        given += (given.empty() ? "for " : ", ") + names[input] + " = " + std::string(strings.view(combination[input]));
      Diagnostic diagnostic = error.diagnostics().front();
      diagnostic.hint = std::move(given);
      throw InputError(std::move(diagnostic));
    }
  }

  bool holds(const Formula& formula, std::span<const Id> combination) {
    return with_arguments(formula, combination, [](const auto& expression, auto arguments) {
      return expr::is_true(expression.evaluate(arguments));
    });
  }

  void compute_expressions(std::vector<Id>& combination) {
    for (const std::uint32_t index : variables.expressions())
      combination[index] =
          with_arguments(*variables.all()[index].formula, combination, [&](const auto& expression, auto arguments) {
            return strings.intern(expr::text_of(expression.evaluate(arguments)));
          });
  }

  bool matches(const Match& match, std::span<const Id> combination) const {
    return std::all_of(match.values.begin(), match.values.end(), [&](const Given& given) {
      return given.value == combination[given.variable] ||
             same_value(strings.view(given.value), strings.view(combination[given.variable]));
    });
  }

  bool passes(std::span<const Id> combination) {
    const auto holds_here = [&](const Formula& formula) { return holds(formula, combination); };
    if (!keep.empty() && std::none_of(keep.begin(), keep.end(), holds_here)) return false;
    if (std::any_of(drop_matches.begin(), drop_matches.end(),
                    [&](const Match& match) { return matches(match, combination); }))
      return false;
    return std::none_of(drop.begin(), drop.end(), holds_here);
  }

  bool has_filters() const { return !keep.empty() || !drop.empty() || !drop_matches.empty(); }

  // --- combinations ---------------------------------------------------------------------------------------------

  void set_axis(const Axis& axis, std::uint64_t index, std::vector<Id>& combination) {
    for (const std::uint32_t variable : axis.variables) combination[variable] = id_of(variable, index);
  }

  // The product, like an odometer whose last wheel turns fastest. False where fn stopped it.
  template <typename Fn>
  bool each_of_product(Fn&& fn) {
    const std::span<const Axis> axes = variables.axes();
    std::vector<Id> combination(names.size(), kNoId);
    std::vector<std::uint64_t> wheels(axes.size(), 0);
    for (const Axis& axis : axes) {
      if (axis.count == 0) return true;
      set_axis(axis, 0, combination);
    }
    for (;;) {
      compute_expressions(combination);
      if (passes(combination) && !fn(combination)) return false;
      std::size_t turning = axes.size();
      for (bool carry = true; carry && turning > 0;) {
        --turning;
        carry = ++wheels[turning] == axes[turning].count;
        if (carry) wheels[turning] = 0;
        if (carry && turning == 0) return true;
        set_axis(axes[turning], wheels[turning], combination);
      }
      if (axes.empty()) return true;
    }
  }

  // Extras that the product does not have, each once.
  template <typename Fn>
  bool each_extra(Fn&& fn) {
    std::set<std::vector<Id>> seen;
    for (const std::vector<Id>& extra : extras) {
      std::vector<Id> combination = extra;
      compute_expressions(combination);
      if (!seen.insert(combination).second || (in_product(combination) && passes(combination))) continue;
      if (!fn(combination)) return false;
    }
    return true;
  }

  bool in_product(const std::vector<Id>& combination) {
    const std::span<const Axis> axes = variables.axes();
    rows.resize(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      std::set<std::vector<Id>>& known = rows[a];
      if (known.empty()) index_rows(axes[a], known);
      if (!known.contains(row_of(axes[a], combination))) return false;
    }
    return true;
  }

  void index_rows(const Axis& axis, std::set<std::vector<Id>>& known) {
    if (axis.count > kMostKept)
      throw InputError(Diagnostic{
          Severity::error,
          variables.all()[axis.variables.front()].position,
          "combinations can only be included beside variables of at most " + format_count(kMostKept, "value"),
          names[axis.variables.front()],
          {}});
    std::vector<Id> row(names.size());
    for (std::uint64_t i = 0; i < axis.count; ++i) {
      set_axis(axis, i, row);
      known.insert(row_of(axis, row));
    }
  }

  static std::vector<Id> row_of(const Axis& axis, const std::vector<Id>& combination) {
    std::vector<Id> row;
    row.reserve(axis.variables.size());
    for (const std::uint32_t variable : axis.variables) row.push_back(combination[variable]);
    return row;
  }
};

Sweep::Sweep(Variables variables, const yaml::Node* include, const yaml::Node* exclude, Diagnostics& diagnostics)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.variables = std::move(variables);
  for (const Variable& variable : state.variables.all()) state.names.push_back(variable.name);
  state.ids.resize(state.names.size());
  if (include != nullptr)
    state.read_filters(*include, state.keep, diagnostics,
                       [&](const yaml::Node& item) { state.read_extra(item, diagnostics); });
  if (exclude != nullptr)
    state.read_filters(*exclude, state.drop, diagnostics, [&](const yaml::Node& item) {
      if (std::optional<Match> match = state.read_match(item, diagnostics))
        state.drop_matches.push_back(*std::move(match));
    });
}

Sweep::~Sweep() = default;
Sweep::Sweep(Sweep&&) noexcept = default;
Sweep& Sweep::operator=(Sweep&&) noexcept = default;

const Variables& Sweep::variables() const {
  return state_->variables;
}
std::span<const std::string> Sweep::names() const {
  return state_->names;
}
const Interner& Sweep::strings() const {
  return state_->strings;
}

std::uint64_t Sweep::most() const {
  const std::uint64_t product = state_->most_of_product();
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - product;
  return product + std::min<std::uint64_t>(room, state_->extras.size());
}

std::string Sweep::shape() const {
  std::string out;
  for (const Axis& axis : state_->variables.axes())
    if (axis.count != 1) out += (out.empty() ? "" : " × ") + std::to_string(axis.count);
  return out.empty() ? "1" : out;
}

std::uint64_t Sweep::count() const {
  if (state_->count) return *state_->count;
  std::uint64_t found = 0;
  const auto one_more = [&found](std::span<const Id>) {
    ++found;
    return true;
  };
  if (state_->has_filters())
    state_->each_of_product(one_more);
  else
    found = state_->most_of_product();
  state_->each_extra(one_more);
  state_->count = found;
  return found;
}

void Sweep::for_each_ids(const std::function<bool(std::span<const Interner::Id> values)>& fn) const {
  if (state_->each_of_product(fn)) state_->each_extra(fn);
}

void Sweep::for_each(const std::function<void(std::span<const std::string_view> values)>& fn) const {
  std::vector<std::string_view> texts(state_->names.size());
  for_each_ids([&](std::span<const Interner::Id> values) {
    for (std::size_t i = 0; i < values.size(); ++i) texts[i] = state_->strings.view(values[i]);
    fn(texts);
    return true;
  });
}

}  // namespace godwit::sweep
