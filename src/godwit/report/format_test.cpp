#include "godwit/report/format.h"

#include <doctest/doctest.h>

#include <limits>
#include <string_view>

namespace godwit::report {
namespace {

TEST_CASE("numbers for people") {
  struct Case {
    double value;
    std::string_view text;
  };
  for (const Case& c : {Case{0, "0.000"}, Case{1, "1.000"}, Case{-1.5, "−1.500"}, Case{0.12345, "0.1235"},
                        Case{0.00012346, "0.0001235"}, Case{1.2345e-7, "1.235e-07"}, Case{-2e-9, "−2.000e-09"},
                        Case{12345.6, "12346"}, Case{999999, "999999"}, Case{1234567, "1.235e+06"},
                        Case{std::numeric_limits<double>::quiet_NaN(), "not a number"},
                        Case{std::numeric_limits<double>::infinity(), "infinite"},
                        Case{-std::numeric_limits<double>::infinity(), "−infinite"}}) {
    CAPTURE(c.value);
    CHECK(format_number(c.value) == c.text);
  }
  CHECK(format_signed(0.5) == "+0.5000");
  CHECK(format_signed(-0.5) == "−0.5000");
}

TEST_CASE("a mean has the places its spread can carry") {
  CHECK(format_mean_sd(3.17834, 0.0213) == "3.178 ± 0.021");
  CHECK(format_mean_sd(-3.17834, 1.23) == "−3.2 ± 1.2");
  CHECK(format_mean_sd(1234.6, 321) == "1235 ± 321");
  CHECK(format_signed(0.0491, 0.044) == "+0.049");
  CHECK(format_signed(-0.0051, 0.044) == "−0.005");
  CHECK(format_signed(0.0491, 0) == "+0.04910");
  CHECK(format_mean_sd(2, 0) == "2.000 ± 0");
  CHECK(format_mean_sd(2e-7, 1e-8) == "2.000e-07 ± 1.000e-08");
}

TEST_CASE("text from outside cannot leave its place") {
  CHECK(escape_xml("<script>alert('a' & \"b\")</script>") ==
        "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;");
  CHECK(printable("a\x1b[31mb\nc\x7f") == "a�[31mb�c�");
  CHECK(printable("\xC2\x9B"
                  "31m é") == "�31m é");
  CHECK(printable("a\xFF\xC3") == "a��");
}

TEST_CASE("cutting counts code points") {
  CHECK(text_columns("é→a") == 3);
  CHECK(shorten("naïveté", 7) == "naïveté");
  CHECK(shorten("naïveté", 4) == "naï…");
}

}  // namespace
}  // namespace godwit::report
