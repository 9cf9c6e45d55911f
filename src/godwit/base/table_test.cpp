#include "godwit/base/table.h"

#include <doctest/doctest.h>

using namespace godwit;

namespace {

// "a|b / 1|2": the names and the rows of a table.
std::string shown(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns(); ++c) out += (c == 0 ? "" : "|") + table.names()[c];
  for (std::size_t r = 0; r < table.rows(); ++r) {
    out += " / ";
    for (std::size_t c = 0; c < table.columns(); ++c) out += (c == 0 ? "" : "|") + table.at(r, c);
  }
  return out;
}

std::string read(TableFormat format, std::string_view text, const TableOptions& options = {}) {
  try {
    return shown(read_table(text, "t", format, options));
  } catch (const InputError& error) {
    return error.what();
  }
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("CSV as RFC 4180 has it") {
  const TableFormat csv = TableFormat::csv;
  CHECK(read(csv, "a,b\n1,2\n3,4\n") == "a|b / 1|2 / 3|4");
  CHECK(read(csv,
             "\xEF\xBB\xBF"
             "a,b\r\n1,2\r\n\r\n3,4") == "a|b / 1|2 / 3|4");
  CHECK(read(csv, "a, b \n 1e-4 ,007\n") == "a|b / 1e-4|007");
  CHECK(read(csv, "a,b\n\"x, y\",\"say \"\"hi\"\"\"\n") == "a|b / x, y|say \"hi\"");
  CHECK(read(csv, "a,b\n\" x \" ,\"two\nlines\"\n5,6\n") == "a|b /  x |two\nlines / 5|6");
  CHECK(read(csv, "a,b\n,\n") == "a|b / |");
  CHECK(read(csv, "a\n\"\"\n") == "a / ");
  CHECK(read(csv, "a,b") == "a|b");
}

TEST_CASE("faults of CSV have places, and all are told") {
  const TableFormat csv = TableFormat::csv;
  const std::string widths = read(csv, "a,b\n1\n1,2\n1,2,3\n");
  CHECK(mentions(widths, "t:2:1: error: this row has 1 value, the table has 2 columns"));
  CHECK(mentions(widths, "t:4:1: error: this row has 3 values"));
  CHECK(read(csv, "a,b\n1,\"x\n") == "t:2:3: error: a quote is opened here and never closed");
  CHECK(mentions(read(csv, "a,b\n\"x\"y,2\n"), "t:2:4: error: text after the closing quote"));
  CHECK(mentions(read(csv, "a,b\nx\"y,2\n"), "t:2:2: error: a quote inside a field"));
  CHECK(mentions(read(csv, "a,,a\n1,2,3\n"), "t:1:3: error: this column has no name"));
  CHECK(mentions(read(csv, "a,,a\n1,2,3\n"), "t:1:4: error: two columns have the same name: 'a'"));
  CHECK(mentions(read(csv, "a\n1\n\xFF\n"), "t:3:1: error: this is not UTF-8"));
  CHECK(mentions(read(csv, "\n\n"), "the table is empty"));
  CHECK(mentions(read(csv, "a\n1\n2\n3\n", {.most_cells = 2}), "t:4:1: error: a table may have 2 cells"));
}

TEST_CASE("cells know their place, also after quoted line ends") {
  const Table table = read_table("a,b\n\"1\n2\", x\n3,4\n", "t", TableFormat::csv);
  CHECK(table.position(0, 0).text() == "t:2:1");
  CHECK(table.position(0, 1).text() == "t:3:5");
  CHECK(table.position(1, 1).text() == "t:4:3");
  CHECK(table.name_position(1).text() == "t:1:3");
  CHECK(table.column("b") == 1);
  CHECK(table.column("c") == std::nullopt);
}

TEST_CASE("TSV and words") {
  CHECK(read(TableFormat::tsv, "a\tb c\n1\t\n\"q\"\tx y\n") == "a|b c / 1| / \"q\"|x y");
  CHECK(read(TableFormat::words, "# made by hand\n a   b\n1 2\n\n# end\n3\t4\n") == "a|b / 1|2 / 3|4");
  CHECK(read(TableFormat::words, "1 2\n3 4\n", {.columns = {"x", "y"}, .no_header = true}) == "x|y / 1|2 / 3|4");
  CHECK(mentions(read(TableFormat::words, "1 2\n", {.no_header = true}), "these rows have no column names"));
}

TEST_CASE("YAML and JSON keep what is written") {
  CHECK(read(TableFormat::yaml, "- {a: 1e-4, b: no}\n- {b: 007, a: ~}\n") == "a|b / 1e-4|no / ~|007");
  CHECK(read(TableFormat::json, "[\n\t{\"a\": 1.50, \"b\": \"x\"},\n\t{\"a\": true, \"b\": null}]") ==
        "a|b / 1.50|x / true|null");
  CHECK(read(TableFormat::yaml, "- [1, 2]\n- [3, 4]\n", {.columns = {"a", "b"}}) == "a|b / 1|2 / 3|4");
}

TEST_CASE("faults of YAML tables") {
  const TableFormat yaml = TableFormat::yaml;
  CHECK(mentions(read(yaml, "- {alpha: 1, b: 2}\n- {alhpa: 1, b: 2}\n"),
                 "t:2:4: error: the first row has no such column"));
  CHECK(mentions(read(yaml, "- {alpha: 1, b: 2}\n- {alhpa: 1, b: 2}\n"), "did you mean 'alpha'?"));
  CHECK(mentions(read(yaml, "- {a: 1, b: 2}\n- {a: 1}\n"), "t:2:3: error: this row lacks a value for a column: 'b'"));
  CHECK(mentions(read(yaml, "- {a: [1]}\n"), "t:1:7: error: a cell holds one value, not a list"));
  CHECK(mentions(read(yaml, "- {a: 1}\n- [1]\n"), "t:2:3: error: every row of a table must be a mapping"));
  CHECK(mentions(read(yaml, "a: 1\n"), "a table is a list of rows"));
  CHECK(mentions(read(yaml, "[]\n"), "the table is empty"));
  CHECK(mentions(read(yaml, "- [1]\n"), "these rows have no column names"));
  CHECK(mentions(read(yaml, "- [1]\n", {.columns = {"a", "b"}}), "this row has 1 value, the table has 2 columns"));
}

TEST_CASE("the format follows from the file's name") {
  CHECK(table_format_of("x/Points.CSV") == TableFormat::csv);
  CHECK(table_format_of("p.yml") == TableFormat::yaml);
  CHECK(table_format_of("p.txt") == TableFormat::words);
  CHECK(table_format_of("p.parquet") == std::nullopt);
}
