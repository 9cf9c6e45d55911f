#include "godwit/base/decimal.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace godwit;

namespace {

Decimal decimal(std::string_view text) {
  return Decimal::parse(text).value();
}

std::vector<std::string> texts(const DecimalRange& range) {
  std::vector<std::string> out;
  for (std::uint64_t i = 0; i < range.count(); ++i) out.push_back(range[i].text());
  return out;
}

}  // namespace

TEST_CASE("the text of a number is the shortest one") {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"0.003", "0.003"},
      {"0.003000", "0.003"},
      {"007", "7"},
      {"-0", "0"},
      {"+.5", "0.5"},
      {"5.", "5"},
      {"1e-4", "0.0001"},
      {"1E+2", "100"},
      {"1.5e3", "1500"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"1234e-10", "1.234e-7"},
      {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"},
      {"-15e20", "-1.5e+21"},
      {"123456789012345678901234567890123456", "1.23456789012345678901234567890123456e+35"},
      {"0.1000000000000000000000000000000000000000000000000", "0.1"},
      {"100000000000000000000000000000000000000000000000000e-50", "1"},
  };
  for (const auto& [written, shown] : cases) {
    CAPTURE(written);
    REQUIRE(Decimal::parse(written));
    CHECK(decimal(written).text() == shown);
    CHECK(decimal(shown) == decimal(written));
  }
}

TEST_CASE("what is no number is not read as one") {
  for (const std::string_view text :
       {"", "-", ".", "e5", "1e", "1e+", "1e+-2", "1e1.5", " 1", "1 ", "0x10", "1_000", "nan", "inf", "--1", "1.2.3",
        "1e99999999999", "1e20000", "1234567890123456789012345678901234567"}) {
    CAPTURE(text);
    CHECK_FALSE(Decimal::parse(text));
  }
}

TEST_CASE("arithmetic is exact") {
  CHECK((decimal("0.1") + decimal("0.2")).text() == "0.3");
  CHECK((decimal("1") - decimal("0.9")).text() == "0.1");
  CHECK((decimal("1.1") * decimal("1.1")).text() == "1.21");
  CHECK((decimal("5") - decimal("5.0")).is_zero());
  CHECK(decimal("1").divided_by(8).text() == "0.125");
  CHECK(decimal("2").divided_by(3).text() == "0.666666666666667");
  CHECK(decimal("-1").divided_by(3).text() == "-0.333333333333333");
  CHECK(decimal("1234567890123456.5").divided_by(1).text() == "1234567890123460");
  CHECK(decimal("1000000000000005").divided_by(10).text() == "100000000000000");  // a tie goes to the even
  CHECK(decimal("1000000000000015").divided_by(10).text() == "100000000000002");
  CHECK((decimal("1e300") + decimal("0")).text() == "1e+300");
  CHECK(decimal("12e2").integer() == 1200);
  CHECK(decimal("0.5").integer() == std::nullopt);
  CHECK(decimal("9223372036854775807").integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(decimal("9223372036854775808").integer() == std::nullopt);
  CHECK(decimal("0.1").value() == 0.1);
  CHECK(decimal("1e400").value() == std::numeric_limits<double>::infinity());
}

TEST_CASE("what does not fit is an error, never another number") {
  CHECK_THROWS_AS(decimal("1e300") + decimal("1"), DecimalOverflow);
  CHECK_THROWS_AS(decimal("123456789012345678901") * decimal("123456789012345678901"), DecimalOverflow);
  CHECK_THROWS_AS(decimal("1e9000") * decimal("1e9000"), DecimalOverflow);
  CHECK_THROWS_AS(decimal("1").divided_by(0), std::invalid_argument);
  CHECK_THROWS_AS(Decimal::rounded(std::nan("")), DecimalOverflow);
}

TEST_CASE("numbers are ordered by value") {
  const std::vector<std::string_view> ascending{"-1e300", "-20", "-2.5", "-2",   "-1e-300", "0",  "1e-300",
                                                "0.0999", "0.1", "1",    "1.01", "9",       "10", "1e300"};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CAPTURE(ascending[i]);
      CAPTURE(ascending[j]);
      CHECK((decimal(ascending[i]) <=> decimal(ascending[j])) == (i <=> j));
    }
  CHECK(decimal("123456789012345678901234567890123456") > decimal("12345678901234567890123456789012345.9"));
}

TEST_CASE("ranges are half-open or closed, and count exactly") {
  const auto range = [](std::string_view start, std::string_view stop, std::string_view step, bool closed) {
    return DecimalRange(decimal(start), decimal(stop), decimal(step), closed);
  };
  CHECK(texts(range("0", "0.5", "0.1", false)) == std::vector<std::string>{"0", "0.1", "0.2", "0.3", "0.4"});
  CHECK(texts(range("0", "0.3", "0.1", true)) == std::vector<std::string>{"0", "0.1", "0.2", "0.3"});
  CHECK(texts(range("0", "0.35", "0.1", true)) == texts(range("0", "0.35", "0.1", false)));
  CHECK(texts(range("3", "0", "-1", false)) == std::vector<std::string>{"3", "2", "1"});
  CHECK(texts(range("3", "0", "-1", true)) == std::vector<std::string>{"3", "2", "1", "0"});
  CHECK(texts(range("5", "5", "1", true)) == std::vector<std::string>{"5"});
  CHECK(range("5", "5", "1", false).count() == 0);
  CHECK(range("5", "4", "1", true).count() == 0);
  const DecimalRange slides = range("0.001", "0.1", "0.001", true);
  CHECK(slides.count() == 100);
  CHECK(slides[2].text() == "0.003");
  CHECK(slides[99].text() == "0.1");
  CHECK(range("0", "1e18", "1", false).count() == 1'000'000'000'000'000'000);
  CHECK_THROWS_AS(range("0", "1e30", "1", false), DecimalOverflow);
  CHECK_THROWS_AS(range("0", "1", "0", false), std::invalid_argument);
}

TEST_CASE("property: parsing and printing keep the value, and addition undoes subtraction") {
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 20'000; ++i) {
    const auto coefficient = static_cast<std::int64_t>(random()) >> (random() % 64);
    const Decimal a(coefficient, static_cast<int>(random() % 20) - 10);
    const Decimal b(static_cast<std::int64_t>(random() % 1'000'000), static_cast<int>(random() % 12) - 6);
    CAPTURE(a.text());
    CAPTURE(b.text());
    REQUIRE(decimal(a.text()) == a);
    REQUIRE((a + b) - b == a);
    REQUIRE((a + b <=> a) == (b <=> Decimal(0)));
    REQUIRE(a * b == b * a);
  }
}

TEST_CASE("property: a range holds exactly the steps below (or up to) its end") {
  std::mt19937_64 random(20260102);
  for (int i = 0; i < 5'000; ++i) {
    const auto pick = [&random](int span) { return static_cast<std::int64_t>(random() % span) - span / 2; };
    const Decimal start(pick(2000), -static_cast<int>(random() % 4));
    const Decimal stop(pick(2000), -static_cast<int>(random() % 4));
    const Decimal step(static_cast<std::int64_t>(random() % 500) + 1, -static_cast<int>(random() % 4));
    for (const bool closed : {false, true})
      for (const bool down : {false, true}) {
        const DecimalRange range =
            down ? DecimalRange(stop, start, -step, closed) : DecimalRange(start, stop, step, closed);
        const auto inside = [&](const Decimal& value) {
          if (down) return closed ? value >= start : value > start;
          return closed ? value <= stop : value < stop;
        };
        CAPTURE(start.text());
        CAPTURE(stop.text());
        CAPTURE(step.text());
        REQUIRE(inside(range.count() == 0 ? (down ? start : stop) + (down ? step : -step) : range[range.count() - 1]));
        REQUIRE_FALSE(inside(range[range.count()]));
      }
  }
}

TEST_CASE("doubles show 15 significant digits and no noise") {
  CHECK(format_double15(0.1 + 0.2) == "0.3");
  CHECK(format_double15(1e-4) == "0.0001");
  CHECK(format_double15(1e-7) == "1e-7");
  CHECK(format_double15(1.0 / 3) == "0.333333333333333");
  CHECK(format_double15(-0.0) == "0");
  CHECK(format_double15(123456789) == "123456789");
  CHECK(format_double15(1e22) == "1e+22");
  CHECK(format_double15(std::numeric_limits<double>::denorm_min()) == "4.94065645841247e-324");
  CHECK(format_double15(std::nan("")) == "nan");
  CHECK(format_double15(-std::numeric_limits<double>::infinity()) == "-inf");
}
