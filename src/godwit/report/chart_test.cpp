#include "godwit/report/chart.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace godwit::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Labels = std::vector<std::string>;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("ticks are round and labelled with equal places") {
  struct Case {
    double low, high;
    int count;
    Labels labels;
  };
  for (const Case& c :
       {Case{0, 1, 5, {"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}}, Case{1, 30, 6, {"5", "10", "15", "20", "25", "30"}},
        Case{-0.02, 0.03, 5, {"−0.02", "−0.01", "0.00", "0.01", "0.02", "0.03"}},
        Case{3.14159, 3.1423, 4, {"3.1416", "3.1418", "3.1420", "3.1422"}},
        Case{0, 4e7, 4, {"0", "1e+07", "2e+07", "3e+07", "4e+07"}}}) {
    CAPTURE(c.low);
    const Scale scale = Scale::linear(c.low, c.high, 0, 100);
    CHECK(tick_labels(scale, scale.ticks(c.count)) == c.labels);
  }
  const Scale decades = Scale::logarithmic(0.05, 2000, 0, 100);
  CHECK(tick_labels(decades, decades.ticks(6)) == Labels{"0.1", "1", "10", "100", "1000"});
  const Scale one = Scale::logarithmic(1.2, 14, 0, 100);
  CHECK(tick_labels(one, one.ticks(6)) == Labels{"2", "5", "10"});
}

TEST_CASE("every scale has a tick and stays inside itself") {
  for (const double low : {-1e5, -3.0, 0.0, 1e-9, 0.7, 12.0, 3e8})
    for (const double span : {0.0, 1e-7, 0.01, 1.0, 37.0, 1e6}) {
      CAPTURE(low);
      CAPTURE(span);
      const Scale scale = Scale::linear(low, low + span, 300, 10);
      const auto ticks = scale.ticks(5);
      CHECK(ticks.size() >= 2);
      CHECK(ticks.size() <= 12);
      for (const double tick : ticks) {
        CHECK(scale(tick) >= 10 - 0.01);
        CHECK(scale(tick) <= 300 + 0.01);
      }
    }
}

TEST_CASE("scales map their ends to their pixels and refuse what cannot be drawn") {
  const Scale up = Scale::linear(2, 4, 100, 0);
  CHECK(up(2) == 100);
  CHECK(up(4) == 0);
  CHECK(up(3) == 50);
  const Scale log = Scale::logarithmic(1, 100, 0, 50);
  CHECK(log(10) == doctest::Approx(25));
  CHECK(std::isnan(log(0)));
  CHECK(std::isnan(log(-1)));
  CHECK(std::isnan(up(kNan)));
  CHECK(std::isnan(up(std::numeric_limits<double>::infinity())));
}

TEST_CASE("a line breaks where it has no value, and a lone value is a dot") {
  Drawing drawing(100, 50);
  const std::vector<Place> places = {{0, 1}, {10, 2}, {20, kNan}, {30, 4}, {40, kNan}, {50, 6}, {60, 7.256}};
  drawing.polyline(places, "line g0");
  CHECK(contains(drawing.svg("x", "t", "d"), "d=\"M0 1L10 2M30 4h0M50 6L60 7.26\""));
}

TEST_CASE("what is not finite leaves nothing in the drawing") {
  Drawing drawing(100, 50);
  const std::string empty = drawing.svg("x", "t", "d");
  const std::vector<Place> nowhere = {{kNan, 1}};
  drawing.polyline(nowhere, "line");
  drawing.band(nowhere, nowhere, "band");
  drawing.circle({1, kNan}, 2, "dot");
  drawing.diamond({kNan, 1}, 2, "dot");
  drawing.line({0, 0}, {kNan, 1}, "axis");
  drawing.rectangle({0, 0}, kNan, 1, "block");
  CHECK(drawing.svg("x", "t", "d") == empty);
}

TEST_CASE("every text is escaped") {
  Drawing drawing(100, 50);
  drawing.text({1, 2}, "<b>", "ink");
  drawing.circle({1, 2}, 3, "dot", "<script>");
  drawing.vertical_text({1, 2}, "a&b", "ink");
  const std::string svg = drawing.svg("x", "<title>", "\"d\"");
  CHECK(contains(svg, ">&lt;b&gt;</text>"));
  CHECK(contains(svg, "<title>&lt;script&gt;</title>"));
  CHECK(contains(svg, ">a&amp;b</text>"));
  CHECK(contains(svg, "<title id=\"x-title\">&lt;title&gt;</title>"));
  CHECK(contains(svg, "<desc id=\"x-text\">&quot;d&quot;</desc>"));
}

TEST_CASE("a drawing placed in another is moved") {
  Drawing inner(10, 10);
  inner.line({0, 0}, {1, 1}, "axis");
  Drawing outer(30, 30);
  outer.place(inner, {20, 10});
  CHECK(contains(outer.svg("x", "t", "d"), "<g transform=\"translate(20 10)\">\n<line class=\"axis\""));
}

}  // namespace
}  // namespace godwit::report
