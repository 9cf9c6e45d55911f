#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "godwit/base/decimal.h"
#include "godwit/base/file.h"
#include "godwit/base/hash.h"
#include "godwit/base/table.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/sweep/sources.h"
#include "godwit/sweep/variable.h"

namespace godwit::sweep {
namespace {

constexpr std::int64_t kMostValues = 1'000'000'000'000'000;
constexpr std::int64_t kMostDraws = 10'000'000;
constexpr std::size_t kMostVariables = 4096;

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names{"value",  "range", "linspace", "logspace",  "list",
                                              "random", "table", "zip",      "expression"};
  return names;
}

// In the order of Distribution.
const std::vector<std::string>& distribution_names() {
  static const std::vector<std::string> names{"uniform", "log_uniform", "integer", "normal", "choice"};
  return names;
}

// An unwritten type, where what is written says which it is.
std::string_view type_suggested_by(const yaml::Node& node) {
  using Pair = std::pair<std::string_view, std::string_view>;
  for (const auto& [key, type] : {Pair{"values", "list"}, Pair{"value", "value"}, Pair{"expression", "expression"},
                                  Pair{"distribution", "random"}, Pair{"rows", "table"}, Pair{"file", "table"},
                                  Pair{"vars", "zip"}, Pair{"num", "linspace"}, Pair{"stop", "range"}})
    if (node.find(key) != nullptr) return type;
  return {};
}

// What is wrong with a name as HTCondor's VARS and $(name) have it; nothing where it is right.
std::string name_fault(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), is_allowed))
    return "a variable's name is letters, digits and underscores, and does not begin with a digit";
  if (lower(name).starts_with("queue")) return "a variable's name cannot begin with 'queue', which is a statement";
  if (is_reserved(name)) return "this name is reserved: Godwit or HTCondor sets it for every job";
  return {};
}

bool is_text(const yaml::Node& node) {
  return node.is_scalar() || (node.is_null() && !node.text.empty());  // ~ and null keep their text, nothing has none
}

}  // namespace

// Reads the `vars:` mapping, variable by variable; then joins zip groups and orders the expressions.
class VariablesReader {
 public:
  VariablesReader(const Options& options, Diagnostics& diagnostics) : options_(options), diagnostics_(diagnostics) {
    result_.limits_ = options.limits;
  }

  Variables read(const yaml::Node& vars) {
    if (!vars.is_mapping() && !vars.is_null())
      diagnostics_.error(vars.position, "vars must be a mapping from name to variable, not " + vars.kind_name());
    for (const yaml::Entry& entry : vars.entries) read_entry(entry, {});
    check_zips();
    compile_expressions();
    return std::move(result_);
  }

 private:
  using Fields = yaml::Fields;
  using SourcePointer = std::shared_ptr<const Source>;

  struct TypeReader {
    std::string_view name;
    Type type;
    SourcePointer (VariablesReader::*read)(Fields& fields, const std::string& name);
  };

  struct Expression {
    std::uint32_t variable;
    std::string source;
    Position position;
  };

  void fault(const Position& position, std::string message, std::string text = {}, std::string hint = {}) {
    diagnostics_.error(position, std::move(message), std::move(text), std::move(hint));
  }

  // --- one variable ---------------------------------------------------------------------------------------------

  // `zip` names the group of the block that the entry stands in, if it does.
  void read_entry(const yaml::Entry& entry, const std::string& zip) {
    const yaml::Node& node = entry.value;
    if (node.is_mapping()) return read_mapping(entry, zip);
    Variable variable{entry.key, Type::value, {}, entry.position, nullptr, {}};
    if (node.is_sequence()) {
      variable.type = Type::list;
      variable.source = texts_of(node);
    } else if (is_text(node)) {
      variable.source = texts_source({node.text});
    } else {
      fault(entry.position, "this variable has no value", entry.key, "write \"\" for empty text");
    }
    add(std::move(variable), zip, entry.position);
  }

  void read_mapping(const yaml::Entry& entry, const std::string& outer_zip) {
    Fields fields(entry.value, diagnostics_, fmt::format("variable '{}'", entry.key));
    const std::optional<std::string> type = fields.text("type");
    const std::string description = fields.text("description").value_or("");
    if (!type || std::find(type_names().begin(), type_names().end(), *type) == type_names().end()) {
      unknown_type(entry, fields, type);
      declared_.insert(lower(entry.key));
      return;
    }
    std::string zip = outer_zip;
    if (*type != "expression" && *type != "zip")
      if (const std::optional<std::string> group = fields.text("zip")) {
        if (!outer_zip.empty()) fault(fields.position("zip"), "this variable is in a zip block already", *group);
        zip = "group " + *group;
      }
    if (*type == "table") {
      read_table_variables(fields, entry, description, zip);
    } else if (*type == "zip") {
      read_zip(fields, outer_zip);
    } else {
      read_variable(fields, entry, *type, description, zip);
    }
    fields.finish();
  }

  void unknown_type(const yaml::Entry& entry, Fields& fields, const std::optional<std::string>& type) {
    if (type) return fault(fields.position("type"), "there is no such type of variable", *type, type_hint(*type));
    if (entry.value.find("type") != nullptr && entry.value.find("type")->is_sequence()) return;  // said already
    const std::string_view suggested = type_suggested_by(entry.value);
    fault(entry.position, "this variable has no type", entry.key,
          suggested.empty() ? type_hint("") : fmt::format("write type: {}", suggested));
  }

  std::string type_hint(std::string_view type) {
    const std::string near = did_you_mean(type, type_names());
    return near.empty() ? "types are " + join(type_names(), ", ") : near;
  }

  void read_variable(Fields& fields, const yaml::Entry& entry, const std::string& type, const std::string& description,
                     const std::string& zip) {
    Variable variable{entry.key, Type::value, description, entry.position, nullptr, {}};
    if (type == "expression") {
      variable.type = Type::expression;
      if (!zip.empty()) fault(entry.position, "an expression is computed, so it cannot be in a zip block", entry.key);
      const std::optional<std::string> source = required_text(fields, "expression");
      if (!source) return void(declared_.insert(lower(entry.key)));
      if (const auto index = add(std::move(variable), {}, entry.position))
        pending_.push_back({*index, *source, fields.position("expression")});
      return;
    }
    static constexpr std::array kReaders = std::to_array<TypeReader>({
        {"value", Type::value, &VariablesReader::value},
        {"range", Type::range, &VariablesReader::range},
        {"linspace", Type::linspace, &VariablesReader::linspace},
        {"logspace", Type::logspace, &VariablesReader::logspace},
        {"list", Type::list, &VariablesReader::list},
        {"random", Type::random, &VariablesReader::random},
    });
    const auto reader =
        std::find_if(kReaders.begin(), kReaders.end(), [&](const TypeReader& r) { return r.name == type; });
    variable.type = reader->type;
    try {
      variable.source = (this->*reader->read)(fields, entry.key);
    } catch (const DecimalOverflow& error) {
      fault(entry.value.position, error.what(), {}, error.hint());
    }
    add(std::move(variable), zip, entry.position);
  }

  // Takes the variable up; nullopt where its name cannot be. One without a source keeps its name from being reported
  // as unknown wherever it is used.
  std::optional<std::uint32_t> add(Variable variable, const std::string& zip, const Position& position) {
    const std::string folded = lower(variable.name);
    if (std::string wrong = name_fault(variable.name); !wrong.empty()) {
      fault(position, std::move(wrong), variable.name);
      declared_.insert(folded);
      return std::nullopt;
    }
    if (result_.variables_.size() == kMostVariables)
      fault(position, "more than " + format_count(kMostVariables, "variable"), variable.name);
    if (result_.variables_.size() >= kMostVariables) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(result_.variables_.size());
    if (const auto [first, fresh] = result_.by_name_.emplace(folded, index); !fresh) {
      const Variable& other = result_.variables_[first->second];
      fault(position, "two variables have this name, and case does not matter", variable.name,
            fmt::format("'{}' is at {}", other.name, other.position.text()));
      return std::nullopt;
    }
    if (variable.source == nullptr && variable.type != Type::expression) {
      result_.by_name_.erase(folded);
      declared_.insert(folded);
      return std::nullopt;
    }
    if (variable.source != nullptr) join_axis(index, variable.source->count(), zip);
    result_.variables_.push_back(std::move(variable));
    return index;
  }

  void join_axis(std::uint32_t variable, std::uint64_t count, const std::string& group) {
    if (!group.empty()) {
      const auto [found, fresh] = groups_.emplace(group, result_.axes_.size());
      if (!fresh) return result_.axes_[found->second].variables.push_back(variable);
    }
    result_.axes_.push_back({{variable}, count});
  }

  // --- fields ---------------------------------------------------------------------------------------------------

  const yaml::Node* required(Fields& fields, std::string_view key) {
    const yaml::Node* value = fields.get(key);
    if (value == nullptr) fault(fields.position(key), fmt::format("this variable needs '{}'", key));
    return value;
  }

  // Unlike Fields::text, ~ and null are texts here.
  std::optional<std::string> required_text(Fields& fields, std::string_view key) {
    const yaml::Node* value = fields.find(key);
    if (value == nullptr || !(is_text(*value))) {
      fault(fields.position(key),
            value == nullptr || value->is_null()
                ? fmt::format("this variable needs '{}'", key)
                : fmt::format("'{}' must be text or a number, not {}", key, value->kind_name()),
            {}, value != nullptr && value->is_sequence() ? "write type: list and values: [...]" : "");
      return std::nullopt;
    }
    return value->text;
  }

  std::optional<Decimal> decimal(Fields& fields, std::string_view key, std::optional<Decimal> unless_given) {
    const yaml::Node* value = unless_given ? fields.get(key) : required(fields, key);
    if (value == nullptr) return unless_given;
    const std::optional<Decimal> number = value->is_scalar() ? Decimal::parse(trim(value->text)) : std::nullopt;
    if (!number)
      fault(value->position, fmt::format("'{}' must be a number", key),
            value->is_scalar() ? value->text : value->kind_name());
    return number;
  }

  // A number that a double holds.
  std::optional<double> real(Fields& fields, std::string_view key, std::optional<Decimal> unless_given) {
    const std::optional<Decimal> number = decimal(fields, key, unless_given);
    if (!number) return std::nullopt;
    if (!std::isfinite(number->value())) {
      fault(fields.position(key), fmt::format("'{}' is too large", key), number->text());
      return std::nullopt;
    }
    return number->value();
  }

  std::optional<std::int64_t> required_integer(Fields& fields, std::string_view key, std::int64_t least,
                                               std::int64_t most) {
    return required(fields, key) == nullptr ? std::nullopt : fields.integer(key, least, most);
  }

  // --- values ---------------------------------------------------------------------------------------------------

  SourcePointer value(Fields& fields, const std::string&) {
    const std::optional<std::string> text = required_text(fields, "value");
    return text ? texts_source({*text}) : nullptr;
  }

  SourcePointer list(Fields& fields, const std::string&) {
    const yaml::Node* values = required(fields, "values");
    return values == nullptr ? nullptr : texts_of(*values);
  }

  SourcePointer texts_of(const yaml::Node& values) {
    if (!values.is_sequence()) {
      fault(values.position, "values must be a list, not " + values.kind_name(), values.text, "write [a, b, c]");
      return nullptr;
    }
    if (values.items.empty()) {
      fault(values.position, "this list has no values");
      return nullptr;
    }
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> seen;
    bool good = true;
    for (const yaml::Node& item : values.items) {
      if (is_text(item)) {
        texts.push_back(item.text);
        if (!seen.insert(item.text).second)
          diagnostics_.warning(item.position, "this value is in the list twice", item.text);
      } else {
        fault(item.position,
              item.is_null() ? "a value is missing here" : "a value must be text or a number, not " + item.kind_name());
        good = false;
      }
    }
    return good ? texts_source(std::move(texts)) : nullptr;
  }

  SourcePointer range(Fields& fields, const std::string&) {
    const std::optional<Decimal> start = decimal(fields, "start", Decimal(0));
    const std::optional<Decimal> stop = decimal(fields, "stop", std::nullopt);
    const std::optional<Decimal> step = decimal(fields, "step", Decimal(1));
    const bool closed = fields.boolean("stop_inclusive").value_or(false);
    if (!start || !stop || !step) return nullptr;
    if (step->is_zero()) {
      fault(fields.position("step"), "'step' must not be 0");
      return nullptr;
    }
    const DecimalRange values(*start, *stop, *step, closed);
    if (values.count() == 0) {
      const bool backwards = (*stop < *start) != step->is_negative() && *stop != *start;
      fault(fields.position("stop"), "this range has no values",
            fmt::format("{} to {} by {}", start->text(), stop->text(), step->text()),
            backwards ? "the step has the wrong sign" : "a range is half-open; write stop_inclusive: true to close it");
      return nullptr;
    }
    if (!check_count(values.count(), fields.position("stop"))) return nullptr;
    values[values.count() - 1];  // throws where the last value has too many digits
    return range_source(values);
  }

  bool check_count(std::uint64_t count, const Position& position) {
    if (count <= static_cast<std::uint64_t>(kMostValues)) return true;
    fault(position, fmt::format("more than {} of one variable", format_count(kMostValues, "value")));
    return false;
  }

  std::optional<Linspace> evenly(Fields& fields) {
    const std::optional<Decimal> start = decimal(fields, "start", std::nullopt);
    const std::optional<Decimal> stop = decimal(fields, "stop", std::nullopt);
    const std::optional<std::int64_t> num = required_integer(fields, "num", 1, kMostValues);
    const bool endpoint = fields.boolean("endpoint").value_or(true);
    if (!start || !stop || !num) return std::nullopt;
    return Linspace{*start, *stop, static_cast<std::uint64_t>(*num), endpoint};
  }

  SourcePointer linspace(Fields& fields, const std::string&) {
    const std::optional<Linspace> values = evenly(fields);
    if (!values) return nullptr;
    values->at(values->num / 2);  // throws where values have too many digits
    return linspace_source(*values);
  }

  SourcePointer logspace(Fields& fields, const std::string&) {
    const std::optional<Linspace> exponents = evenly(fields);
    const std::optional<Decimal> base = decimal(fields, "base", Decimal(10));
    if (!exponents || !base) return nullptr;
    if (!std::isfinite(base->value()) || base->value() <= 0) {
      fault(fields.position("base"), "'base' must be more than 0 and not too large", base->text());
      return nullptr;
    }
    for (const std::uint64_t i : {std::uint64_t{0}, exponents->num - 1})
      if (const double power = std::pow(base->value(), exponents->at(i).value()); !std::isfinite(power) || power == 0) {
        fault(fields.position(i == 0 ? "start" : "stop"), "this power of the base is beyond what numbers can hold",
              fmt::format("{}^{}", base->text(), exponents->at(i).text()),
              "start and stop are exponents: 10^start … 10^stop");
        return nullptr;
      }
    exponents->at(exponents->num / 2);
    return logspace_source(*exponents, *base);
  }

  // --- random ---------------------------------------------------------------------------------------------------

  SourcePointer random(Fields& fields, const std::string& name) {
    Random draws;
    draws.key = FieldHasher().add(options_.seed).add(name).digest64();
    const std::optional<std::string> distribution = fields.text("distribution");
    const auto found = std::find(distribution_names().begin(), distribution_names().end(), distribution.value_or(""));
    bool good = found != distribution_names().end();
    if (good) draws.distribution = static_cast<Distribution>(found - distribution_names().begin());
    if (!good)
      fault(fields.position("distribution"),
            distribution ? "there is no such distribution" : "this variable needs 'distribution'",
            distribution.value_or(""), "distributions are " + join(distribution_names(), ", "));
    const std::optional<std::int64_t> count = fields.integer("count", 1, kMostDraws);
    draws.count = static_cast<std::uint64_t>(count.value_or(1));
    good = (count || !fields.has("count")) && good;
    const std::optional<std::int64_t> digits = fields.integer("digits", 1, 15);
    draws.digits = static_cast<int>(digits.value_or(15));
    // All parameters are looked at, so that each fault is reported.
    good = good && parameters(fields, draws);
    return good ? random_source(std::move(draws)) : nullptr;
  }

  bool parameters(Fields& fields, Random& draws) {
    switch (draws.distribution) {
      case Distribution::uniform:
      case Distribution::log_uniform:
        return bounds(fields, draws);
      case Distribution::integer:
        return integer_bounds(fields, draws);
      case Distribution::normal: {
        const std::optional<double> mean = real(fields, "mean", Decimal(0));
        const std::optional<double> deviation = real(fields, "std", Decimal(1));
        if (!mean || !deviation) return false;
        draws.mean = *mean;
        draws.deviation = *deviation;
        if (*deviation > 0 && *deviation < 1e300 && std::abs(*mean) < 1e300) return true;
        fault(fields.position("std"), "'std' must be more than 0, and it and the mean below 1e300");
        return false;
      }
      case Distribution::choice:
        return choices(fields, draws);
    }
    return false;
  }

  bool bounds(Fields& fields, Random& draws) {
    const std::optional<double> low = real(fields, "low", std::nullopt);
    const std::optional<double> high = real(fields, "high", std::nullopt);
    if (!low || !high) return false;
    draws.low = *low;
    draws.high = *high;
    if (*low >= *high) {
      fault(fields.position("high"), "'high' must be more than 'low'");
      return false;
    }
    if (draws.distribution == Distribution::log_uniform && *low <= 0) {
      fault(fields.position("low"), "'low' must be more than 0, since its logarithm is taken");
      return false;
    }
    return true;
  }

  bool integer_bounds(Fields& fields, Random& draws) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::optional<std::int64_t> low = required_integer(fields, "low", kLeast, kMost);
    const std::optional<std::int64_t> high = required_integer(fields, "high", kLeast, kMost);
    if (!low || !high) return false;
    draws.least = *low;
    draws.most = *high;
    if (*low > *high) fault(fields.position("high"), "'high' must not be less than 'low'");
    return *low <= *high;
  }

  bool choices(Fields& fields, Random& draws) {
    const yaml::Node* values = required(fields, "values");
    const yaml::Node* weights = fields.get("weights");
    const SourcePointer texts = values == nullptr ? nullptr : texts_of(*values);
    if (texts == nullptr) return false;
    for (std::uint64_t i = 0; i < texts->count(); ++i) draws.choices.push_back(texts->text(i));
    const std::optional<std::vector<double>> each = weights_of(weights, draws.choices.size());
    if (each) std::partial_sum(each->begin(), each->end(), std::back_inserter(draws.cumulative));
    if (each && draws.cumulative.back() > 0 && std::isfinite(draws.cumulative.back())) return true;
    fault(fields.position("weights"),
          "'weights' must be a list with a number for each value, none negative, not all 0");
    return false;
  }

  // 1 for each where there are no weights; nullopt where one is no number, or negative, or there are too few or many.
  static std::optional<std::vector<double>> weights_of(const yaml::Node* weights, std::size_t count) {
    if (weights == nullptr) return std::vector<double>(count, 1.0);
    if (weights->items.size() != count) return std::nullopt;
    std::vector<double> out;
    out.reserve(count);
    for (const yaml::Node& item : weights->items) {
      const std::optional<Decimal> weight = Decimal::parse(trim(item.text));
      if (!weight || weight->is_negative()) return std::nullopt;
      out.push_back(weight->value());
    }
    return out;
  }

  // --- tables ---------------------------------------------------------------------------------------------------

  void read_table_variables(Fields& fields, const yaml::Entry& entry, const std::string& description,
                            const std::string& zip) {
    const yaml::Node* rows = fields.get("rows");
    const yaml::Node* file = fields.get("file");
    const std::vector<std::string> columns = fields.texts("columns");
    const std::optional<bool> header = fields.boolean("header");
    const std::optional<std::string> format = fields.text("format");
    if ((rows == nullptr) == (file == nullptr))
      return fault(entry.position, "a table needs either 'rows' or 'file'", entry.key);
    TableOptions options;
    options.no_header = !header.value_or(true);
    const bool names_columns =
        options.no_header || (rows != nullptr && !rows->items.empty() && rows->items.front().is_sequence());
    if (names_columns) options.columns = columns;
    try {
      const Table table = rows != nullptr ? table_from(*rows, options) : load(fields, format, options);
      add_columns(fields, entry, table, names_columns ? std::vector<std::string>{} : columns, description, zip);
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics_.add(diagnostic);
      for (const std::string& column : columns) declared_.insert(lower(column));
      result_.has_unread_table_ = true;
    }
  }

  Table load(Fields& fields, const std::optional<std::string>& format, const TableOptions& options) {
    const Position position = fields.position("file");
    const auto refuse = [&](std::string message, const std::string& text, std::string hint) {
      return InputError(Diagnostic{Severity::error, position, std::move(message), text, std::move(hint)});
    };
    const std::string name = fields.text("file").value_or("");
    const std::optional<TableFormat> kind = table_format_of(format ? "." + *format : name);
    if (!kind) throw refuse("this file's format is not known", name, "write format: csv, tsv, yaml, json or txt");
    const std::filesystem::path relative = std::filesystem::path(name).lexically_normal();
    if (options_.base_directory.empty() || relative.empty() || relative.is_absolute() || *relative.begin() == "..")
      throw refuse("a table's file must be beside the experiment or below it", name,
                   "copy it there, so that the experiment can travel");
    const std::string path = (std::filesystem::path(options_.base_directory) / relative).string();
    struct ::stat status{};
    if (::stat(path.c_str(), &status) != 0)
      throw refuse("there is no such file", name, "paths of tables start at the experiment's folder");
    if (!S_ISREG(status.st_mode)) throw refuse("this is not a file", name, {});
    // Faults name the table as the experiment's own are named: from where the person stands.
    const std::string shown = (std::filesystem::path(position.file).parent_path() / relative).string();
    try {
      return read_table(read_file(path, options.most_bytes), shown, *kind, options);
    } catch (const SystemError& error) {
      throw refuse(fmt::format("this file cannot be read ({})", std::strerror(error.code())), name, {});
    }
  }

  void add_columns(const Fields& fields, const yaml::Entry& entry, const Table& table,
                   const std::vector<std::string>& wanted, const std::string& description, const std::string& zip) {
    if (table.rows() == 0) return fault(entry.position, "this table has no rows", entry.key);
    // Columns of one table go together as a zip group does.
    const std::string group = zip.empty() ? fmt::format("table {}", result_.axes_.size()) : zip;
    const std::vector<std::string>& names = wanted.empty() ? table.names() : wanted;
    for (const std::string& name : names) {
      const std::optional<std::size_t> column = table.column(name);
      if (!column) {
        fault(fields.position("columns"), "the table has no such column", name, did_you_mean(name, table.names()));
        declared_.insert(lower(name));
        continue;
      }
      std::vector<std::string> texts;
      texts.reserve(table.rows());
      for (std::size_t row = 0; row < table.rows(); ++row) texts.push_back(table.at(row, *column));
      add({name, Type::table, description, table.name_position(*column), texts_source(std::move(texts)), {}}, group,
          table.name_position(*column));
    }
  }

  // --- groups ---------------------------------------------------------------------------------------------------

  void read_zip(Fields& fields, const std::string& outer_zip) {
    const yaml::Node* vars = required(fields, "vars");
    if (vars == nullptr) return;
    if (!outer_zip.empty()) return fault(vars->position, "a zip block cannot be in another");
    if (!vars->is_mapping())
      return fault(vars->position, "vars must be a mapping from name to variable, not " + vars->kind_name());
    const std::string group = fmt::format("block {}", result_.axes_.size());
    for (const yaml::Entry& entry : vars->entries) read_entry(entry, group);
  }

  void check_zips() {
    for (const Axis& axis : result_.axes_)
      for (const std::uint32_t index : axis.variables) {
        const Variable& variable = result_.variables_[index];
        if (variable.count() == axis.count) continue;
        const Variable& first = result_.variables_[axis.variables.front()];
        fault(variable.position, "variables that advance together need equally many values", variable.name,
              fmt::format("it has {}, '{}' has {}", format_count(variable.count(), "value"), first.name,
                          format_count(first.count(), "value")));
      }
  }

  // --- expressions ----------------------------------------------------------------------------------------------

  void compile_expressions() {
    for (const Expression& pending : pending_)
      if (!uses_failed(pending))
        result_.variables_[pending.variable].formula = result_.compile(pending.source, pending.position, diagnostics_);
    order_expressions();
  }

  // Whether it uses a variable that was reported already, so that a second report would only confuse.
  bool uses_failed(const Expression& pending) const {
    const std::vector<expr::Name> names = expr::names_in(pending.source);
    return std::any_of(names.begin(), names.end(), [&](const expr::Name& name) {
      return !result_.index_of(name.name) && (result_.has_unread_table_ || declared_.contains(lower(name.name)));
    });
  }

  // Depth-first, so that each comes after those it uses; a cycle is reported as the path that closes it.
  void order_expressions() {
    std::vector<Mark> marks(result_.variables_.size(), Mark::unseen);
    std::vector<std::uint32_t> path;
    for (const Expression& pending : pending_) visit(pending.variable, marks, path);
  }

  enum class Mark : std::uint8_t { unseen, open, done };

  void visit(std::uint32_t index, std::vector<Mark>& marks, std::vector<std::uint32_t>& path) {
    const Variable& variable = result_.variables_[index];
    if (variable.type != Type::expression || marks[index] == Mark::done) return;
    if (marks[index] == Mark::open) {
      std::string cycle = variable.name;
      for (auto at = std::find(path.begin(), path.end(), index) + 1; at != path.end(); ++at)
        cycle += " → " + result_.variables_[*at].name;
      fault(variable.position, "these expressions need each other", cycle + " → " + variable.name);
      return;
    }
    if (!variable.formula) return;
    marks[index] = Mark::open;
    path.push_back(index);
    for (const std::uint32_t input : variable.formula->inputs) visit(input, marks, path);
    path.pop_back();
    marks[index] = Mark::done;
    result_.expressions_.push_back(index);
  }

  const Options& options_;
  Diagnostics& diagnostics_;
  Variables result_;
  std::unordered_map<std::string, std::size_t> groups_;  // zip group → axis
  std::unordered_set<std::string> declared_;             // lower-case names that were reported
  std::vector<Expression> pending_;
};

Variables read(const yaml::Node& vars, const Options& options, Diagnostics& diagnostics) {
  return VariablesReader(options, diagnostics).read(vars);
}

}  // namespace godwit::sweep
