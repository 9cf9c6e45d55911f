// Tables for people: aligned columns that fit the terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "godwit/cli/terminal.h"

namespace godwit::cli {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool may_shrink = false;  // cut with "…" where the table is wider than the terminal
};

struct Cell {
  std::string text;
  Style style = Style::plain;
};

// A column whose cells are all empty is left out. Control characters in cells are made visible, not sent.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty.
  void add_row(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  // A line of titles and one per row, each ending in a newline.
  std::string render(const Terminal& terminal) const;

 private:
  std::vector<std::size_t> widths(const Terminal& terminal) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// A run's values in one cell: "alpha=0.1 layers=2".
std::string values_text(std::span<const std::pair<std::string, std::string>> values);

}  // namespace godwit::cli
