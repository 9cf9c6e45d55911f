#include "godwit/base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "godwit/base/file.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"

namespace godwit {

namespace {

constexpr std::size_t kMostFaults = 20;  // a table with the wrong separator has one in every line

struct Field {
  std::string text;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

std::string quoted_list(const std::vector<std::string>& names) {
  return join(names, ", ");
}

}  // namespace

// Puts rows together and reports what is wrong with them.
class TableBuilder {
 public:
  TableBuilder(const std::string& file, const TableOptions& options) : options_(options) { table_.file_ = file; }

  bool has_names() const { return !table_.names_.empty(); }

  void fault(std::uint32_t line, std::uint32_t column, std::string message, std::string text = {},
             std::string hint = {}) {
    faulty_ = true;
    if (diagnostics_.all().size() < kMostFaults)
      diagnostics_.error({table_.file_, line, column}, std::move(message), std::move(text), std::move(hint));
  }

  void add_name(const Field& field) {
    const std::string name(trim(field.text));
    if (name.empty()) fault(field.line, field.column, "this column has no name");
    if (!name.empty() && table_.column(name)) fault(field.line, field.column, "two columns have the same name", name);
    table_.names_.push_back(name);
    table_.name_positions_.push_back({table_.file_, field.line, field.column});
  }

  // Names from the options, for rows without a header; `first` is the first row's place.
  void take_given_names(std::uint32_t line, std::uint32_t column) {
    for (const std::string& name : options_.columns) add_name({name, line, column});
    if (options_.columns.empty())
      fault(line, column, "these rows have no column names", {}, "name them with columns: [a, b]");
  }

  void add_row(std::vector<Field> fields) {
    if (fields.size() != table_.names_.size()) {
      const Field at = fields.empty() ? Field{} : fields.front();
      fault(at.line, at.column,
            fmt::format("this row has {}, the table has {}", format_count(fields.size(), "value"),
                        format_count(table_.names_.size(), "column")),
            {}, "the columns are " + quoted_list(table_.names_));
      return;
    }
    for (Field& field : fields) add_cell(std::move(field));
  }

  Table finish() {
    diagnostics_.throw_if_errors();
    return std::move(table_);
  }
  bool faulty() const { return faulty_; }

 private:
  void add_cell(Field field) {
    if (table_.cells_.size() >= options_.most_cells) {
      diagnostics_.error({table_.file_, field.line, field.column},
                         fmt::format("a table may have {}", format_count(options_.most_cells, "cell")));
      diagnostics_.throw_if_errors();
    }
    table_.cells_.push_back({std::move(field.text), field.line, field.column});
  }

  const TableOptions& options_;
  Table table_;
  Diagnostics diagnostics_;
  bool faulty_ = false;
};

namespace {

// Text line by line and field by field.
class TextTable {
 public:
  TextTable(std::string_view text, const std::string& file, const TableOptions& options)
      : text_(text), options_(options), builder_(file, options) {}

  Table read(TableFormat format) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    check_utf8();
    while (next_ < text_.size()) {
      std::vector<Field> fields = format == TableFormat::csv ? csv_row() : plain_row(format);
      ++line_;
      if (!fields.empty()) take(std::move(fields));
    }
    if (!builder_.has_names()) builder_.fault(1, 1, "the table is empty");
    return builder_.finish();
  }

 private:
  void check_utf8() {
    const std::optional<std::size_t> bad = first_bad_utf8(text_);
    if (!bad) return;
    const std::string_view before = text_.substr(0, *bad);
    const auto lines = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
    builder_.fault(lines + 1, static_cast<std::uint32_t>(*bad - (before.rfind('\n') + 1) + 1), "this is not UTF-8", {},
                   "save the file as UTF-8");
    builder_.finish();
  }

  void take(std::vector<Field> fields) {
    if (builder_.has_names()) {
      builder_.add_row(std::move(fields));
    } else if (options_.no_header) {
      builder_.take_given_names(fields.front().line, fields.front().column);
      if (builder_.faulty()) builder_.finish();
      builder_.add_row(std::move(fields));
    } else {
      for (const Field& field : fields) builder_.add_name(field);
    }
  }

  // The next line without its end.
  std::string_view line() {
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    std::string_view found = text_.substr(next_, end - next_);
    if (found.ends_with('\r')) found.remove_suffix(1);
    next_ = end + 1;
    return found;
  }

  std::uint32_t column_of(std::string_view part, std::string_view whole) const {
    return static_cast<std::uint32_t>(part.data() - whole.data() + 1);
  }

  std::vector<Field> plain_row(TableFormat format) {
    const std::string_view whole = line();
    std::vector<Field> fields;
    if (trim(whole).empty()) return fields;
    const bool words = format == TableFormat::words;
    if (words && trim(whole).starts_with('#')) return fields;
    for (const std::string_view part : words ? split_words(whole) : split(whole, '\t'))
      fields.push_back({std::string(part), line_, column_of(part, whole)});
    return fields;
  }

  // One record; quoted fields may go over several lines.
  std::vector<Field> csv_row() {
    std::vector<Field> fields;
    std::size_t line_begin = next_;
    for (;;) {
      const std::uint32_t first_line = line_;
      const std::size_t blank = std::min(text_.find_first_not_of(" \t", next_), text_.size());
      const auto column = static_cast<std::uint32_t>(blank - line_begin + 1);
      Field field{{}, first_line, column};
      if (blank < text_.size() && text_[blank] == '"') {
        next_ = blank + 1;
        field.text = quoted(line_begin, column);
      } else {
        const std::size_t end = std::min(text_.find_first_of(",\n\"", blank), text_.size());
        field.text = trim(text_.substr(blank, end - blank));
        next_ = end;
      }
      fields.push_back(std::move(field));
      if (!to_next_field(line_begin)) break;
    }
    const bool blank_line = fields.size() == 1 && fields[0].text.empty() && fields[0].line == line_ &&
                            trim(text_.substr(line_begin, next_ - line_begin)).empty();
    return blank_line ? std::vector<Field>{} : fields;
  }

  // Past the comma (true) or the line's end (false); what else stands there is a fault.
  bool to_next_field(std::size_t line_begin) {
    next_ = std::min(text_.find_first_not_of(" \t\r", next_), text_.size());
    if (next_ < text_.size() && text_[next_] != ',' && text_[next_] != '\n') {
      builder_.fault(line_, static_cast<std::uint32_t>(next_ - line_begin + 1),
                     text_[next_] == '"' ? "a quote inside a field" : "text after the closing quote", {},
                     "put the whole field in quotes, and double the quotes inside");
      line();
      return false;
    }
    const bool more = next_ < text_.size() && text_[next_] == ',';
    ++next_;
    return more;
  }

  // The rest of a quoted field.
  std::string quoted(std::size_t& line_begin, std::uint32_t column) {
    std::string out;
    const std::uint32_t first_line = line_;
    for (; next_ < text_.size(); ++next_) {
      const char c = text_[next_];
      if (c == '"') {
        ++next_;
        if (next_ >= text_.size() || text_[next_] != '"') return out;
      }
      if (c == '\n') {
        ++line_;
        line_begin = next_ + 1;
      }
      out += c;
    }
    builder_.fault(first_line, column, "a quote is opened here and never closed");
    return out;
  }

  std::string_view text_;
  const TableOptions& options_;
  TableBuilder builder_;
  std::size_t next_ = 0;
  std::uint32_t line_ = 1;
};

Field field_of(const yaml::Node& node) {
  return {node.text, node.position.line, node.position.column};
}

// Rows as YAML nodes.
class NodeTable {
 public:
  NodeTable(const yaml::Node& rows, const TableOptions& options) : rows_(rows), builder_(rows.position.file, options) {}

  Table read() {
    if (!rows_.is_sequence()) return fail(rows_, "a table is a list of rows, each a mapping from column to value");
    if (rows_.items.empty()) return fail(rows_, "the table is empty");
    for (const yaml::Node& row : rows_.items) {
      if (row.is_mapping() && (!builder_.has_names() || by_name_))
        add_mapping(row);
      else if (row.is_sequence() && (!builder_.has_names() || !by_name_))
        add_list(row);
      else
        fault(row, "every row of a table must be a mapping, or every row a list, not " + row.kind_name());
      if (builder_.faulty() && !builder_.has_names()) break;
    }
    return builder_.finish();
  }

 private:
  void fault(const yaml::Node& at, std::string message, std::string text = {}, std::string hint = {}) {
    builder_.fault(at.position.line, at.position.column, std::move(message), std::move(text), std::move(hint));
  }

  Table fail(const yaml::Node& at, std::string message) {
    fault(at, std::move(message));
    return builder_.finish();
  }

  bool is_cell(const yaml::Node& node) {
    if (node.is_scalar() || node.is_null()) return true;
    fault(node, "a cell holds one value, not " + node.kind_name());
    return false;
  }

  void add_list(const yaml::Node& row) {
    if (!builder_.has_names()) builder_.take_given_names(row.position.line, row.position.column);
    std::vector<Field> fields;
    for (const yaml::Node& item : row.items) {
      if (!is_cell(item)) return;
      fields.push_back(field_of(item));
    }
    if (fields.empty()) return fault(row, "this row is empty");
    builder_.add_row(std::move(fields));
  }

  // The first row names the columns; the others give the same in any order.
  void add_mapping(const yaml::Node& row) {
    if (row.entries.empty()) return fault(row, "this row is empty");
    if (!builder_.has_names()) {
      by_name_ = true;
      for (const yaml::Entry& entry : row.entries) {
        columns_.emplace(trim(entry.key), names_.size());
        names_.emplace_back(trim(entry.key));
        builder_.add_name({entry.key, entry.position.line, entry.position.column});
      }
    }
    std::vector<Field> fields(names_.size());
    std::vector<bool> given(names_.size());
    for (const yaml::Entry& entry : row.entries) {
      const auto found = columns_.find(std::string(trim(entry.key)));
      if (found == columns_.end()) {
        builder_.fault(entry.position.line, entry.position.column, "the first row has no such column", entry.key,
                       did_you_mean(entry.key, names_));
      } else if (is_cell(entry.value)) {
        fields[found->second] = field_of(entry.value);
        given[found->second] = true;
      }
    }
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i]) return fault(row, "this row lacks a value for a column", names_[i]);
    builder_.add_row(std::move(fields));
  }

  const yaml::Node& rows_;
  TableBuilder builder_;
  bool by_name_ = false;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> columns_;
};

}  // namespace

std::optional<TableFormat> table_format_of(std::string_view path) {
  struct Ending {
    std::string_view ending;
    TableFormat format;
  };
  static constexpr std::array kEndings = std::to_array<Ending>({{".csv", TableFormat::csv},
                                                                {".tsv", TableFormat::tsv},
                                                                {".tab", TableFormat::tsv},
                                                                {".yaml", TableFormat::yaml},
                                                                {".yml", TableFormat::yaml},
                                                                {".json", TableFormat::json},
                                                                {".txt", TableFormat::words},
                                                                {".dat", TableFormat::words}});
  const std::string folded = lower(path);
  for (const Ending& known : kEndings)
    if (folded.ends_with(known.ending)) return known.format;
  return std::nullopt;
}

std::optional<std::size_t> Table::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

Position Table::position(std::size_t row, std::size_t column) const {
  const Cell& found = cell(row, column);
  return {file_, found.line, found.column};
}

Table read_table(std::string_view text, const std::string& file, TableFormat format, const TableOptions& options) {
  if (format == TableFormat::yaml || format == TableFormat::json)
    return table_from(yaml::parse(text, file, {.bytes = options.most_bytes}), options);
  return TextTable(text, file, options).read(format);
}

Table load_table(const std::string& path, TableFormat format, const TableOptions& options) {
  return read_table(read_file(path, options.most_bytes), path, format, options);
}

Table table_from(const yaml::Node& rows, const TableOptions& options) {
  return NodeTable(rows, options).read();
}

}  // namespace godwit
