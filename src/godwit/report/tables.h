// The comparison as tables of text, for the terminal and for the page alike.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "godwit/report/comparison.h"

namespace godwit::report {

struct Column {
  std::string name;
  bool right = false;  // numbers stand at the right
};

// Cells are text for people as users wrote it: whoever prints them escapes them (printable(), escape_xml()).
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;  // what the table does not show; may be empty
};

// All tables that have something to say, in reading order: runs, groups, values, paired differences, epoch times. None
// has more than `most_rows` rows; its note says what is left out.
std::vector<Table> make_tables(const Comparison& comparison, std::size_t most_rows);

// What came out, in a sentence or two: how many runs finished, the groups' means, the paired difference.
std::string headline(const Comparison& comparison);

// "delta×2 → anvil → delta": where the run's jobs are, equal neighbours counted.
std::string site_path(const Run& run);

// "layers=3, dropout=0.1": the values that all runs share; empty where none is.
std::string common_values(const Comparison& comparison);

}  // namespace godwit::report
