#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "godwit/base/text.h"

#include "godwit/submit/description.h"

namespace godwit::submit {
namespace {

// So that a failure shows both sides.
std::string joined(const std::vector<std::string>& lines) {
  return join(lines, "\n");
}

using Vars = std::map<std::string, std::string>;

Lookup lookup(const Vars& vars) {
  return [&vars](std::string_view name) -> std::optional<std::string> {
    const auto found = vars.find(std::string(name));
    if (found == vars.end()) return std::nullopt;
    return found->second;
  };
}

Description read(std::string_view text) {
  Diagnostics diagnostics;
  Description description = Description::parse(text, {"job.sub", 1, 1}, diagnostics);
  diagnostics.throw_if_errors();
  return description;
}

std::optional<std::string> value(std::string_view text, const Vars& vars, std::string_view key = "v") {
  return evaluate(read(text), lookup(vars)).get(key);
}

std::string fault(std::string_view text, const Vars& vars = {}) {
  try {
    value(text, vars);
  } catch (const InputError& error) {
    const Position& p = error.diagnostics().at(0).position;
    return (p.known() ? p.text() + ' ' : "") + error.diagnostics().at(0).message;
  }
  return "no fault";
}

TEST_CASE("values expand by the rules of the submit language") {
  ::setenv("GODWIT_TEST_VARIABLE", "from outside", 1);
  ::unsetenv("GODWIT_TEST_ABSENT");
  struct Case {
    const char* text;
    Vars vars;
    const char* expected;
  };
  const Case cases[] = {
      {"v = plain", {}, "plain"},
      {"V = $(A)-$(a)", {{"a", "1"}}, "1-1"},
      {"v = [$(absent)]", {}, "[]"},
      {"v = $(absent:default)", {}, "default"},
      {"v = $(absent:)", {}, ""},
      {"v = $(absent:$(b:(2)))", {}, "(2)"},
      {"v = $(a:x)", {{"a", ""}}, "x"},
      // late: what the macro is when the job is made
      {"v = $(later)\nlater = 2", {}, "2"},
      {"v = $(a)\na = 1\na = $(a)2", {}, "12"},
      // its own name means what it was before
      {"v = 1\nv = $(v),2\nv = $(V),3", {}, "1,2,3"},
      {"v = $(v), x", {}, ", x"},
      {"v = $(v:1)", {}, "1"},
      {"v = $(v:1)", {{"v", "7"}}, "7"},
      {"v =\nv = $(v:1)", {}, "1"},
      {"v = $(other:$(v:1))", {{"v", "7"}}, "7"},
      {"v = $(v:1)", {{"v", "$(w)"}, {"w", "deep"}}, "deep"},
      // what is not a macro stays
      {"v = $$(OpSys) $$([1+$(a)]) $(a b) $( $x $", {{"a", "2"}}, "$$(OpSys) $$([1+2]) $(a b) $( $x $"},
      {"v = $(DOLLAR)(a)", {{"a", "2"}}, "$(a)"},
      {"v = $ENV(GODWIT_TEST_VARIABLE)", {}, "from outside"},
      {"v = $ENV(GODWIT_TEST_ABSENT) $ENV(GODWIT_TEST_ABSENT:none)", {}, "UNDEFINED none"},
      {"+attr = 3\nv = $(MY.Attr)", {}, "3"},
      // VARS are values too; the description's own win
      {"x = 1", {{"v", "from VARS"}}, "from VARS"},
      {"v = own", {{"v", "from VARS"}}, "own"},
      {"v = 1\nqueue\nv = 2", {}, "1"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(value(c.text, c.vars) == c.expected);
  }
  CHECK_FALSE(value("x = 1", {}).has_value());
}

TEST_CASE("conditions choose") {
  struct Case {
    const char* condition;
    Vars vars;
    bool expected;
  };
  const Case cases[] = {
      {"true", {}, true},
      {"FALSE", {}, false},
      {"Yes", {}, true},
      {"no", {}, false},
      {"0", {}, false},
      {"-1.5", {}, true},
      {"0.0", {}, false},
      {"! true", {}, false},
      {"!0", {}, true},
      {"defined x", {}, false},
      {"defined X", {{"x", "0"}}, true},
      {"defined x", {{"x", ""}}, false},
      {"!defined x", {}, true},
      {"$(x)", {}, false},
      {"!$(x)", {}, true},
      {"$(x)", {{"x", "yes"}}, true},
      {"$(x:1)", {}, true},
      {"defined $(name)", {{"name", "x"}, {"x", "1"}}, true},
      {"defined own", {}, true},
      {"defined later", {}, false},
      {"defined 1", {}, true},
      {"defined", {}, false},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.condition));
    const std::string text = "own = 1\nv = no\nif " + std::string(c.condition) + "\nv = yes\nendif\nlater = 1";
    CHECK(value(text, c.vars) == (c.expected ? "yes" : "no"));
  }
}

TEST_CASE("one branch runs, the first whose condition holds") {
  const std::string_view text =
      "v = 0\n"
      "if $(a)\n"
      "  v = a\n"
      "  if $(b)\n"
      "    v = ab\n"
      "  else\n"
      "    v = a-\n"
      "  endif\n"
      "elif $(b)\n"
      "  v = b\n"
      "elif $(c)\n"
      "  v = c\n"
      "else\n"
      "  v = none\n"
      "endif\n";
  CHECK(value(text, {}) == "none");
  CHECK(value(text, {{"a", "1"}}) == "a-");
  CHECK(value(text, {{"a", "1"}, {"b", "1"}, {"c", "1"}}) == "ab");
  CHECK(value(text, {{"b", "1"}, {"c", "1"}}) == "b");
  CHECK(value(text, {{"c", "1"}}) == "c");
  // what does not run is not looked at
  CHECK(value("v = 1\nif false\nif $(x) nonsense\nv = 2\nendif\nendif", {{"x", "y"}}) == "1");
}

TEST_CASE("faults that show when a description runs") {
  CHECK(fault("v = $(a)\na = $(b)\nb = $(a)") == "circular macro: a → b → a");
  CHECK(fault("x = 1", {{"v", "$(v)"}}) == "circular macro: v → v");
  CHECK(fault("v = $INT(x)") == "the macro function $INT(…) is not available");
  CHECK(fault("x = 1\nif $(x) > 2\nendif") == "job.sub:2:4 not a condition: '1 > 2'");
}

TEST_CASE("macros that multiply are stopped") {
  std::string late = "v = $(m0)\n", early = "v = xxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) {
    late += "m" + std::to_string(i) + " = $(m" + std::to_string(i + 1) + ")$(m" + std::to_string(i + 1) + ")\n";
    early += "v = $(v)$(v)\n";
  }
  CHECK(fault(late) == "the macros of this value expand to too much");
  CHECK(fault(early) == "job.sub:19:1 the value grows past every bound");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "$(x:";
  CHECK(fault("v = " + deep + std::string(100, ')')) == "macros within macros more than 64 deep");
}

TEST_CASE("undefined macros are found with their places") {
  const Description description = read(
      "executable = $(program)\n"
      "arguments = --a=$(alpha) \\\n"
      "   --b=$(beta) $(gamma:1) $(delta:$(epsilon)) $(CLUSTERID) $(JOB)\n"
      "own = 1\n"
      "log = $(own) $ENV(HOME) $$(Arch)\n"
      "if defined zeta\n"
      "endif\n");
  std::vector<std::string> found;
  for (const MacroUse& use : undefined_macros(description, [](std::string_view name) { return name == "alpha"; }))
    found.push_back(use.name + ' ' + use.position.text());
  CHECK(joined(found) == joined({"program job.sub:1:16", "beta job.sub:3:10", "epsilon job.sub:3:37"}));
}

}  // namespace
}  // namespace godwit::submit
