#include "godwit/journal/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

namespace godwit::journal {
namespace {

TEST_CASE("a line becomes an event's JSON with its offset") {
  struct Case {
    const char* line;
    const char* event;  // nullptr: the line is none
  };
  for (const Case& c : {
           Case{R"({"epoch":3,"val_loss":0.5})", R"({"epoch":3,"val_loss":0.5,"_offset":7})"},
           Case{R"({"epoch":1,"loss":NaN})", R"({"epoch":1,"loss":"NaN","_offset":7})"},
           Case{R"({"loss":-Infinity,"a":[inf,nan]})", R"({"loss":"-Infinity","a":["Infinity","NaN"],"_offset":7})"},
           Case{R"({"note":"NaN \" inf","loss":-nan})", R"({"note":"NaN \" inf","loss":"NaN","_offset":7})"},
           Case{"{}", R"({"_offset":7})"},
           Case{"[1]", nullptr},
           Case{"3", nullptr},
           Case{"epoch 3: loss 0.5", nullptr},
           Case{R"({"epoch":)", nullptr},
           Case{"", nullptr},
           Case{"{\"a\":\"\xff\"}", nullptr},
       }) {
    CAPTURE(c.line);
    const auto event = metrics_event(c.line, 7);
    REQUIRE(event.has_value() == (c.event != nullptr));
    if (event) CHECK(*event == c.event);
  }
}

TEST_CASE("the epoch that a line names") {
  CHECK(named_epoch(Json::parse(R"({"epoch":3})")) == 3);
  CHECK(named_epoch(Json::parse(R"({"epoch":3.0})")) == 3);
  CHECK(named_epoch(Json::parse(R"({"epoch":0})")) == 0);
  for (const char* line : {"{}", R"({"epoch":2.5})", R"({"epoch":-1})", R"({"epoch":1e99})", R"({"epoch":"3"})",
                           R"({"epoch":18446744073709551615})", R"({"epoch":4294967296})", R"({"epoch":null})"}) {
    CAPTURE(line);
    CHECK_FALSE(named_epoch(Json::parse(line)).has_value());
  }
}

TEST_CASE("metrics as numbers") {
  CHECK(metric_value(Json(1.5)) == 1.5);
  CHECK(metric_value(Json(3)) == 3.0);
  CHECK(std::isnan(metric_value(Json("NaN")).value()));
  CHECK(metric_value(Json("-Infinity")) == -INFINITY);
  CHECK(metric_value(Json("Infinity")) == INFINITY);
  CHECK(metric_value(Json("good")) == std::nullopt);
  CHECK(metric_value(Json(nullptr)) == std::nullopt);
}

}  // namespace
}  // namespace godwit::journal
