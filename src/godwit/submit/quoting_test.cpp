#include "godwit/submit/quoting.h"

#include <doctest/doctest.h>

#include "godwit/base/error.h"

namespace godwit::submit {
namespace {

using Words = std::vector<std::string>;
using Settings = std::vector<std::pair<std::string, std::string>>;

template <typename Fn>
std::string fault(Fn&& fn) {
  try {
    fn();
  } catch (const InputError& error) {
    return error.diagnostics().at(0).message;
  }
  return "no fault";
}

TEST_CASE("arguments are split by the rules of their quoting") {
  struct Case {
    const char* value;
    Words words;
  };
  const Case cases[] = {
      // old quoting
      {"", {}},
      {"  one \t two  ", {"one", "two"}},
      {R"(say \"hello\" 'as is')", {"say", "\"hello\"", "'as", "is'"}},
      {R"(C:\path\ --x=\\)", {R"(C:\path\)", R"(--x=\\)"}},
      // new quoting
      {R"("")", {}},
      {R"("one 'two with spaces' 3")", {"one", "two with spaces", "3"}},
      {R"("""quoted"" and ''")", {"\"quoted\"", "and", ""}},
      {R"("'spacey ''quoted'' argument' x'y 'z")", {"spacey 'quoted' argument", "xy z"}},
      {R"("back\slash \""x")", {R"(back\slash)", R"(\"x)"}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.value));
    CHECK(split_arguments(c.value) == c.words);
  }
}

TEST_CASE("faults of quoting are named") {
  struct Case {
    const char* value;
    const char* message;
  };
  const Case cases[] = {
      {R"(say "hello")", "a double quote needs a backslash before it"},
      {R"("one two)", "the closing double quote is missing"},
      {R"("one" two)", "text after the closing double quote:  two"},
      {R"("one 'two")", "the closing single quote is missing"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.value));
    CHECK(fault([&] { split_arguments(c.value); }) == c.message);
  }
}

TEST_CASE("joined arguments split into the same arguments") {
  const Words cases[] = {
      {}, {""}, {"plain"}, {"with space", "tab\there"}, {"it's", "''", "\"", "a\"b'c d"}, {"$(macro)", "--x=1", R"(\)"},
  };
  for (const Words& words : cases) {
    const std::string joined = join_arguments(words);
    CAPTURE(joined);
    CHECK(split_arguments(joined) == words);
  }
  CHECK(join_arguments({"a", "b c", "it's", "say \"x\""}) == R"("a 'b c' 'it''s' 'say ""x""'")");
}

TEST_CASE("environments are split by the rules of their quoting") {
  struct Case {
    const char* value;
    Settings settings;
  };
  const Case cases[] = {
      {"", {}},
      {"A=1;B=two words;;C=", {{"A", "1"}, {"B", "two words"}, {"C", ""}}},
      {R"("A=1 B='two words' C='it''s' D=x=y")", {{"A", "1"}, {"B", "two words"}, {"C", "it's"}, {"D", "x=y"}}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.value));
    CHECK(split_environment(c.value) == c.settings);
  }
  CHECK(fault([] { split_environment("A=1;B"); }) == "no '=' in the environment setting 'B'");
  CHECK(fault([] { split_environment(R"("A=1 =2")"); }) == "no name before '=' in the environment setting '=2'");
}

TEST_CASE("variables are added to an environment in its own quoting") {
  const Settings more = {{"RUN", "$(run_uuid)"}, {"FIRST", "1"}};
  const Settings spacious = {{"TEXT", "a 'b' c"}};
  CHECK(add_to_environment("", more) == R"("RUN=$(run_uuid) FIRST=1")");
  CHECK(add_to_environment(R"("")", more) == R"("RUN=$(run_uuid) FIRST=1")");
  CHECK(add_to_environment(R"("A='x y'")", more) == R"("A='x y' RUN=$(run_uuid) FIRST=1")");
  CHECK(add_to_environment("A=1", more) == "A=1;RUN=$(run_uuid);FIRST=1");
  CHECK(add_to_environment("\"A=1\"", spacious) == R"("A=1 'TEXT=a ''b'' c'")");
  CHECK(fault([&] { add_to_environment("A=1", spacious); }) ==
        "'TEXT=a 'b' c' cannot be added to an environment in the old quoting");
}

}  // namespace
}  // namespace godwit::submit
