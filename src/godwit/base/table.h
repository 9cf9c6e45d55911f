// Tables of text from the formats people keep them in, with the place of every cell.
//
//   csv    RFC 4180: commas, quotes doubled inside quotes, CRLF or LF. Spaces around unquoted fields are dropped.
//   tsv    tabs, no quoting
//   words  columns apart by any white space; lines beginning with # are comments
//   yaml   a list of mappings (key: column), or of lists
//   json   the same in JSON
//
// Text files may begin with a byte order mark; blank lines are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"

namespace godwit {

enum class TableFormat : std::uint8_t { csv, tsv, words, yaml, json };

// By the file's ending: .csv, .tsv or .tab, .yaml or .yml, .json, .txt or .dat (words).
std::optional<TableFormat> table_format_of(std::string_view path);

struct TableOptions {
  // Names for the columns where the text has no header (no_header, or rows that are lists).
  std::vector<std::string> columns = {};
  bool no_header = false;
  std::size_t most_cells = 10'000'000;
  std::size_t most_bytes = std::size_t{256} << 20;
};

class Table {
 public:
  std::size_t columns() const { return names_.size(); }
  std::size_t rows() const { return names_.empty() ? 0 : cells_.size() / names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::size_t> column(std::string_view name) const;
  const std::string& at(std::size_t row, std::size_t column) const { return cell(row, column).text; }
  Position position(std::size_t row, std::size_t column) const;
  Position name_position(std::size_t column) const { return name_positions_[column]; }

 private:
  friend class TableBuilder;
  struct Cell {
    std::string text;
    std::uint32_t line, column;
  };
  const Cell& cell(std::size_t row, std::size_t column) const { return cells_[row * names_.size() + column]; }

  std::string file_;
  std::vector<std::string> names_;
  std::vector<Position> name_positions_;
  std::vector<Cell> cells_;  // row by row
};

// `file` names the text in positions. Throws InputError with every fault found: rows of different widths, columns
// without a name or with the same one, cells that are lists, limits.
Table read_table(std::string_view text, const std::string& file, TableFormat format, const TableOptions& options = {});
// Throws SystemError too.
Table load_table(const std::string& path, TableFormat format, const TableOptions& options = {});
// Rows that are part of a YAML file.
Table table_from(const yaml::Node& rows, const TableOptions& options = {});

}  // namespace godwit
