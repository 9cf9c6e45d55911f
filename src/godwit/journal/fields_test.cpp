#include "godwit/journal/fields.h"

#include <doctest/doctest.h>

namespace godwit::journal {
namespace {

TEST_CASE("members by their kind") {
  const std::string json =
      R"( { "a" : "text", "quoted":"a\"b\\\u00e9\n", "n":-3, "u":18446744073709551615, "x":1.5e-3, "yes":true, "no":false,
         "nested":{"a":"no","list":[1,{"]":"}"}]}, "list":["a"], "null":null, "last":7 } )";
  const Fields fields(json);
  CHECK(fields.text("a") == "text");
  CHECK(fields.text("quoted") == "a\"b\\\xc3\xa9\n");
  CHECK(fields.number<int>("n") == -3);
  CHECK(fields.number<std::uint64_t>("u") == 18446744073709551615u);
  CHECK(fields.number<double>("x") == 0.0015);
  CHECK(fields.number<double>("n") == -3.0);
  CHECK(fields.flag("yes"));
  CHECK_FALSE(fields.flag("no"));
  CHECK(fields.number<int>("last") == 7);
  CHECK_FALSE(fields.empty());
}

TEST_CASE("what is absent, of another kind or does not fit is nothing") {
  const std::string json =
      R"({"text":"7","number":7,"fraction":1.5,"minus":-1,"large":5000000000,"flag":"true","n":{},"inf":inf,"nan":-nan})";
  const Fields fields(json);
  CHECK(fields.number<int>("text") == 0);
  CHECK(fields.text("number").empty());
  CHECK(fields.number<int>("fraction") == 0);
  CHECK(fields.number<std::uint32_t>("minus") == 0);
  CHECK(fields.number<std::uint32_t>("large") == 0);
  CHECK_FALSE(fields.flag("flag"));
  CHECK(fields.text("n").empty());
  CHECK(fields.text("absent").empty());
  for (const char* key : {"absent", "inf", "nan"}) CHECK(fields.number<double>(key) == 0);
}

TEST_CASE("what is no object has no members") {
  for (const char* json :
       {"", "{}", "null", "[1]", "7", "\"a\"", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":\"x",
        "{\"a\":\"x\\", "{\"a\":{\"b\":1}", "{\"a\":[1,", "{a:1}", "{\"a\" 1}", "{\"a\":\"\\q\"}"}) {
    CAPTURE(json);
    const Fields fields(json);
    CHECK(fields.empty());
    CHECK(fields.number<int>("a") == 0);
  }
}

TEST_CASE("members past the thirty-second are passed over") {
  std::string json = "{";
  for (int i = 0; i < 100; ++i) json += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + std::to_string(i);
  json += "}";
  const Fields fields(json);
  CHECK(fields.number<int>("31") == 31);
  CHECK(fields.number<int>("32") == 0);
}

}  // namespace
}  // namespace godwit::journal
