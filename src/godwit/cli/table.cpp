#include "godwit/cli/table.h"

#include <algorithm>
#include <numeric>

#include "godwit/report/format.h"

namespace godwit::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastWidth = 6;  // of a column that shrinks

std::string padded(const Cell& cell, std::size_t width, Align align, bool last, const Terminal& terminal) {
  const std::string text = report::shorten(cell.text, width);
  const std::string space(width - std::min(width, report::text_columns(text)), ' ');
  const std::string body = styled(text, cell.style, terminal);
  if (align == Align::right) return space + body;
  return last ? body : body + space;
}

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  for (Cell& cell : cells) cell.text = report::printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(const Terminal& terminal) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const std::vector<Cell>& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], report::text_columns(row[i].text));
  std::size_t total = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    widths[i] = std::max(widths[i], report::text_columns(columns_[i].title));
    total += widths[i] + kGap;
  }
  while (terminal.width != 0 && total > terminal.width + kGap) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].may_shrink && widths[i] > kLeastWidth && (widest == nullptr || widths[i] > *widest))
        widest = &widths[i];
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string Table::render(const Terminal& terminal) const {
  const std::vector<std::size_t> width = widths(terminal);
  const std::size_t last = static_cast<std::size_t>(
      std::find_if(width.rbegin(), width.rend(), [](std::size_t w) { return w != 0; }).base() - width.begin());
  std::string out;
  const auto line = [&](auto&& cell_of) {
    for (std::size_t i = 0; i < last; ++i) {
      if (width[i] == 0) continue;
      out += padded(cell_of(i), width[i], columns_[i].align, i + 1 == last, terminal);
      if (i + 1 != last) out.append(kGap, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);  // empty cells at the end leave no blanks
    out += '\n';
  };
  line([&](std::size_t i) { return Cell{columns_[i].title, Style::strong}; });
  for (const std::vector<Cell>& row : rows_) line([&](std::size_t i) { return row[i]; });
  return out;
}

std::string values_text(std::span<const std::pair<std::string, std::string>> values) {
  std::string out;
  for (const auto& [name, value] : values) out.append(out.empty() ? "" : " ").append(name).append("=").append(value);
  return out;
}

}  // namespace godwit::cli
