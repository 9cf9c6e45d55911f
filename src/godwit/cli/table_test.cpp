#include "godwit/cli/table.h"

#include <doctest/doctest.h>

#include "godwit/base/text.h"
#include "godwit/report/format.h"

namespace godwit::cli {
namespace {

constexpr Terminal kPlain{false, 0};

TEST_CASE("columns line up, and an empty one is left out") {
  Table table({{"run"}, {"nothing"}, {"epochs", Align::right}, {"site"}});
  table.add_row({{"0"}, {}, {"5"}, {"délta"}});
  table.add_row({{"run10"}, {}, {"100"}, {"x"}});
  CHECK(table.render(kPlain) ==
        "run    epochs  site\n"
        "0           5  délta\n"
        "run10     100  x\n");
}

TEST_CASE("lines do not end in blanks") {
  Table table({{"run"}, {"site"}, {""}});
  table.add_row({{"0"}, {"north"}, {"baseline", Style::faint}});
  table.add_row({{"1"}, {"south-west"}, {"", Style::faint}});
  table.add_row({{"2"}});
  CHECK(table.render(kPlain) ==
        "run  site\n"
        "0    north       baseline\n"
        "1    south-west\n"
        "2\n");
  CHECK(table.render({true, 80}).find(" \n") == std::string::npos);
}

TEST_CASE("a table fits its terminal by cutting the columns that may shrink") {
  Table table({{"name"}, {"values", Align::left, true}, {"n", Align::right}});
  table.add_row({{"run0"}, {std::string(100, 'v')}, {"7"}});
  const std::string text = table.render({false, 40});
  for (const std::string_view line : split(trim(text), '\n')) CHECK(report::text_columns(line) <= 40);
  CHECK(text.find("vv…  7") != std::string::npos);
  SUBCASE("down to a least width") {
    CHECK(table.render({false, 5}).find("vvvvv…") != std::string::npos);
  }
}

TEST_CASE("styles appear only where colours are welcome, and do not disturb the columns") {
  Table table({{"a"}, {"b"}});
  table.add_row({{"x", Style::bad}, {"y"}});
  CHECK(table.render(kPlain) == "a  b\nx  y\n");
  CHECK(table.render({true, 80}) == "\x1b[1ma\x1b[0m  \x1b[1mb\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
}

TEST_CASE("escape sequences in a cell do not reach the terminal") {
  Table table({{"a"}});
  table.add_row({{"\x1b[2J"}});
  CHECK(table.render(kPlain).find('\x1b') == std::string::npos);
}

TEST_CASE("a bar is full only when all is done") {
  CHECK(progress_bar(0, 4) == "░░░░");
  CHECK(progress_bar(0.5, 4) == "██░░");
  CHECK(progress_bar(0.999, 4) == "███░");
  CHECK(progress_bar(1, 4) == "████");
  CHECK(progress_bar(2, 4) == "████");
}

TEST_CASE("a stream that is no terminal wants no colours and has no width") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const Terminal terminal = terminal_of(file);
  CHECK_FALSE(terminal.colours);
  CHECK(terminal.width == 0);
  CHECK(renew_screen(terminal).empty());
  std::fclose(file);
}

}  // namespace
}  // namespace godwit::cli
