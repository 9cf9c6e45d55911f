#include "godwit/submit/description.h"

#include <doctest/doctest.h>

#include "godwit/base/text.h"

namespace godwit::submit {
namespace {

// So that a failure shows both sides.
std::string joined(const std::vector<std::string>& lines) {
  return join(lines, "\n");
}

Description read(std::string_view text) {
  Diagnostics diagnostics;
  Description description = Description::parse(text, {"job.sub", 1, 1}, diagnostics);
  diagnostics.throw_if_errors();
  return description;
}

// "line:column message" of every diagnostic.
std::vector<std::string> faults(std::string_view text, Position origin = {"job.sub", 1, 1}, std::uint32_t indent = 0) {
  Diagnostics diagnostics;
  Description::parse(text, origin, diagnostics, indent);
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics.all())
    out.push_back(std::to_string(d.position.line) + ':' + std::to_string(d.position.column) + ' ' + d.message +
                  (d.hint.empty() ? "" : " / " + d.hint));
  return out;
}

TEST_CASE("statements keep their order, their spelling and their places") {
  const Description description = read(
      "# a comment \\\n"
      "Executable = /bin/sh\n"
      "\n"
      "  +WantGPULab=true\n"
      "if defined x\n"
      "\targuments = a = b   \n"
      "ENDIF\n"
      "queue 1\n");
  const auto& statements = description.statements();
  REQUIRE(statements.size() == 6);
  CHECK(statements[0].key == "Executable");
  CHECK(statements[0].value == "/bin/sh");
  CHECK(statements[0].position == Position{"job.sub", 2, 1});
  CHECK(statements[0].value_position == Position{"job.sub", 2, 14});
  CHECK(statements[1].key == "+WantGPULab");
  CHECK(statements[1].position == Position{"job.sub", 4, 3});
  CHECK(statements[2].kind == Statement::Kind::if_);
  CHECK(statements[2].value == "defined x");
  CHECK(statements[3].value == "a = b");
  CHECK(statements[3].value_position == Position{"job.sub", 6, 14});
  CHECK(statements[4].kind == Statement::Kind::endif);
  CHECK(statements[5].kind == Statement::Kind::queue);
}

TEST_CASE("a backslash continues a line, comments in between do not count") {
  const Description description = read(
      "transfer_input_files = a, \\\n"
      "   # not this one\n"
      "     b, \\\n"
      "  c\n"
      "log = x\n");
  REQUIRE(description.statements().size() == 2);
  const Statement& statement = description.statements()[0];
  CHECK(statement.value == "a, b, c");
  CHECK(statement.position_at(0) == Position{"job.sub", 1, 24});
  CHECK(statement.position_at(statement.value.find('b')) == Position{"job.sub", 3, 6});
  CHECK(statement.position_at(statement.value.find('c')) == Position{"job.sub", 4, 3});
}

TEST_CASE("a description inside another file reports places there") {
  CHECK(
      faults("executable = x\nwrong\n  wrong too\n", {"experiment.yaml", 7, 5}, 4) ==
      std::vector<std::string>{
          "8:5 not a statement of the submit language / write 'key = value', 'if', 'elif', 'else', 'endif' or 'queue'",
          "9:7 not a statement of the submit language / write 'key = value', 'if', 'elif', 'else', 'endif' or "
          "'queue'"});
  CHECK(faults("= 1", {"experiment.yaml", 7, 18}) == std::vector<std::string>{"7:18 no name before '='"});
}

TEST_CASE("what is wrong is said, all of it") {
  struct Case {
    const char* text;
    std::vector<std::string> faults;
  };
  const Case cases[] = {
      {"queue 5",
       {"1:7 a node of a Dag takes exactly one job / write 'queue' alone; what shall run many times is a "
        "sweep over 'vars'"}},
      {"queue x from list.txt",
       {"1:7 a node of a Dag takes exactly one job / write 'queue' alone; what shall run many "
        "times is a sweep over 'vars'"}},
      {"queue\nqueue", {"2:1 a second 'queue' / a node of a Dag takes exactly one job"}},
      {"queue = 1", {"1:1 'queue' begins a statement and cannot be the name of a value"}},
      {"if true\nqueue\nendif", {"2:1 'queue' inside an 'if' / put it behind the 'endif'"}},
      {"queue\nlog = x", {"2:1 this comes after 'queue' and has no effect / move it before 'queue'"}},
      {"if true\na=1", {"1:1 this 'if' has no 'endif'"}},
      {"endif\nelse\nelif true",
       {"1:1 'endif' without an 'if' before it", "2:1 'else' without an 'if' before it",
        "3:1 'elif' without an 'if' before it"}},
      {"if true\nelse\nelse\nelif true\nendif x",
       {"3:1 'else' after the 'else' of the same 'if'", "4:1 'elif' after the 'else' of the same 'if'",
        "5:7 nothing may follow 'endif'"}},
      {"if\nendif", {"1:3 a condition is missing / write 'if defined NAME' or 'if $(NAME)'"}},
      {"if version >= 9.0\nendif",
       {"1:4 conditions on HTCondor's version cannot be decided here / a description that runs on every site has no "
        "HTCondor version; test a variable instead"}},
      {"if $(x) == 3\nendif", {}},  // known only when it runs
      {"if a && b\nendif",
       {"1:4 not a condition: 'a && b' / conditions are 'defined NAME', true, false or a number, with '!' before them "
        "to negate; no comparisons"}},
      {"if defined a b\nendif", {"1:4 'defined' wants the name of one macro: 'a b'"}},
      {"a b = 1\nc@=end",
       {"1:1 not a name / names have letters, digits, '_' and '.'",
        "2:1 values of several lines ('@=') are not available / end a line in a backslash to continue it"}},
      {"include : other.sub", {"1:1 'include' statements are not available here"}},
      {"log = x\\", {}},
      {"log = x\\\\", {"1:1 a statement cannot end in a backslash"}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(joined(faults(c.text)) == joined(c.faults));
  }
}

TEST_CASE("a slip of the pen in a command is suspected, a macro of one's own is not") {
  CHECK(faults("argument = x\nrequest_memroy = 1GB") ==
        std::vector<std::string>{
            "1:1 no command of this name, and nothing uses it as a macro / did you mean 'arguments'?",
            "2:1 no command of this name, and nothing uses it as a macro / did you mean 'request_memory'?"});
  CHECK(faults("argument = x\narguments = $(Argument)").empty());
  CHECK(faults("argument = x\nif defined argument\nlog = x\nendif").empty());
  CHECK(faults("alpha = 3\n+Argument = 1\nMY.Outputs = 2\nREQUEST_CPUS = 1").empty());
}

TEST_CASE("conditions nest at most 63 deep") {
  std::string text, ends;
  for (int i = 0; i < 64; ++i) {
    text += "if true\n";
    ends += "endif\n";
  }
  CHECK(faults(text + ends) == std::vector<std::string>{"64:1 conditions nested more than 63 deep"});
}

TEST_CASE("text() reads back as the same statements") {
  const std::string_view text =
      "executable = /bin/sh\n"
      "if defined a\n"
      "  if $(b)\n"
      "    x = 1\n"
      "  elif !true\n"
      "    x =\n"
      "  else\n"
      "    +Y = \"s\"\n"
      "  endif\n"
      "endif\n"
      "queue\n";
  const Description description = read(text);
  CHECK(description.text() == text);
  CHECK(description.text(false) == text.substr(0, text.size() - 6));
  CHECK(read(description.text()).statements() == description.statements());
}

TEST_CASE("assignments are added before queue") {
  Description description = read("executable = x\nqueue\n");
  description.set("request_cpus", " 4 ");
  Diagnostics diagnostics;
  description.append("if defined y\nlog = z\nendif", diagnostics);
  CHECK(diagnostics.all().empty());
  CHECK(description.text() == "executable = x\nrequest_cpus = 4\nif defined y\n  log = z\nendif\nqueue\n");
  CHECK(description.has("REQUEST_CPUS"));
  CHECK(description.has("log"));
  CHECK_FALSE(description.has("output"));
  CHECK_THROWS_AS(description.set("a", "b\nqueue 100"), InputError);
  CHECK_THROWS_AS(description.set("a", "b\\"), InputError);
}

TEST_CASE("+Attr and MY.Attr are one key") {
  const Description description = read("+Attr = 1\n");
  CHECK(description.has("my.attr"));
  CHECK(description.has("+ATTR"));
  CHECK_FALSE(description.has("attr"));
}

TEST_CASE("rewriting changes every assignment to a key, in whatever branch and case") {
  Diagnostics diagnostics;
  Description description =
      Description::parse("if defined x\nOutput = a\nelse\noutput = b\nendif\nerror = c\nqueue\n", {}, diagnostics);
  CHECK_FALSE(description.always_sets("output"));
  CHECK(description.always_sets("error"));
  description.rewrite("output", [](const std::string& value) { return value + ".txt"; });
  CHECK(description.text() == "if defined x\n  Output = a.txt\nelse\n  output = b.txt\nendif\nerror = c\nqueue\n");
  CHECK_THROWS_AS(description.rewrite("error", [](const std::string&) { return "a\nb"; }), InputError);
}

}  // namespace
}  // namespace godwit::submit
