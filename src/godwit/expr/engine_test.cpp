#include "godwit/expr/engine.h"

#include <doctest/doctest.h>

#include <chrono>
#include <utility>
#include <vector>

using namespace godwit;
using expr::Engine;

namespace {

// The text that `source` gives where a = 2, b = "0.5", s = "adam", t = "true"; or what is wrong with it.
std::string evaluated(std::string_view source, const Engine& engine = Engine()) {
  const std::vector<std::string_view> arguments{"2", "0.5", "adam", "true"};
  try {
    return engine.compile(source, {"a", "b", "s", "t"}, {"f", 3, 10}).text(arguments);
  } catch (const InputError& error) {
    return error.what();
  }
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> names(std::string_view source) {
  std::vector<std::string> out;
  for (const expr::Name& name : expr::names_in(source)) out.push_back(name.name);
  return out;
}

}  // namespace

TEST_CASE("expressions compute with variables") {
  const Engine engine;
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"a + 1", "3"},
      {"a * b", "1"},
      {"0.1 + 0.2", "0.3"},
      {"1 / 3", "0.333333333333333"},
      {"a / 1e4", "0.0002"},
      {"s + '_' + a", "adam_2"},
      {"s == 'adam' ? b : a", "0.5"},
      {"t && a > 1", "true"},
      {"!t", "false"},
      {"max(a, b, 7)", "7"},
      {"min(a, b)", "0.5"},
      {"pow(2, 10) + floor(b) + round(1.5) + log10(1000)", "1029"},
      {"sqrt(16) // a comment", "4"},
      {"[1, 2, 3].map(function (x) { return x * a; }).join('-')", "2-4-6"},
      {"{width: 64}.width * a", "128"},
      {"'a/b'.split('/')[1]", "b"},
      {"s.replace(/[ad\\/]+/, 'X')", "Xm"},
      {"(a\n  + b)\n", "2.5"},
  };
  for (const auto& [source, expected] : cases) {
    CAPTURE(source);
    CHECK(evaluated(source, engine) == expected);
  }
}

TEST_CASE("texts become numbers and truth only where they look like it") {
  using expr::value_of;
  CHECK(value_of("1e-4") == expr::Value(1e-4));
  CHECK(value_of("007") == expr::Value(7.0));
  CHECK(value_of("-.5") == expr::Value(-0.5));
  CHECK(value_of("+3") == expr::Value(3.0));
  CHECK(value_of("true") == expr::Value(true));
  for (const std::string_view text : {"no", "0x10", "inf", "nan", "1 ", "1e", "-", "", "1e999", "128GB"}) {
    CAPTURE(text);
    CHECK(value_of(text) == expr::Value(std::string(text)));
  }
}

TEST_CASE("what holds") {
  const Engine engine;
  const auto holds = [&](std::string_view source) {
    const std::vector<std::string_view> arguments{"2"};
    return engine.compile(source, {"a"}).holds(arguments);
  };
  CHECK(holds("a > 1"));
  CHECK_FALSE(holds("a > 2"));
  CHECK(holds("a"));
  CHECK_FALSE(holds("a - 2"));
  CHECK_FALSE(holds("''"));
}

TEST_CASE("faults say where and what") {
  CHECK(evaluated("a + bb") ==
        "f:3:14: error: neither a variable nor a function has this name: 'bb'\n  did you mean 'b'?");
  CHECK(mentions(evaluated("a > 1 and b"), "write && for and"));
  CHECK(evaluated("(a + b") == "f:3:10: error: '(' is never closed: '(a + b'");
  CHECK(evaluated("a) + (b") == "f:3:11: error: ')' closes nothing: 'a) + (b'");
  CHECK(evaluated("'abc") == "f:3:10: error: a quote is opened here and never closed: ''abc'");
  CHECK(mentions(evaluated("a +"), "f:3:10: error: this is not an expression: SyntaxError"));
  CHECK(mentions(evaluated("a;\nb"), "this is not an expression"));
  CHECK(mentions(evaluated("a +\n +\n * b"), "f:5:10: error: this is not an expression"));
  CHECK(mentions(evaluated("  "), "the expression is empty"));
  CHECK(mentions(evaluated("1 / 0"), "does not give a finite number"));
  CHECK(mentions(evaluated("[a]"), "does not give a number, text, true or false"));
  CHECK(mentions(evaluated("undefined"), "does not give"));
  CHECK(mentions(evaluated("a.b.c"), "the expression fails: TypeError"));
  CHECK(mentions(evaluated("'\\ud800'"), "does not give"));
}

TEST_CASE("what other languages have is named with what to write instead") {
  struct Case {
    const char* source;
    const char* says;
  };
  const Case cases[] = {
      {"[1, 2].map(x => x * a)[0]", "arrow functions"},
      {"(function () { let q = a; return q; })()", "write 'var'"},
      {"(function () { const q = a; return q; })()", "write 'var'"},
      {"`width-${a}`", "join text by +"},
      {"a ?? 1", "a == null ? b : a"},
      {"[...'abc'].length", "'...'"},
      {"a <> 2", "write !="},
      {"not a", "! for not"},
      {"a == None", "write null"},
      {"len('abc')", "write text.length"},
      {"a if a > 1 else 2", "write b ? a : c"},
      {"a // 2", "floor(a / b)"},
      {"a = 2", "write == to compare"},
      {"lambda x: x", "function (x)"},
  };
  for (const Case& c : cases)
    CHECK_MESSAGE(mentions(evaluated(c.source), c.says), c.source << ": " << evaluated(c.source));
  for (const char* source : {"a ** 2", "a <= 3", "a === 3", "'=> let const `' + a",
                             "(function () { var q; q = a; if (q) return 1; return 2; })()", "a / 2 // half of it",
                             "({let_: 1}).let_ + a", "a >= 1 ? 2 : 3"})
    CHECK_MESSAGE(!mentions(evaluated(source), "error"), source << ": " << evaluated(source));
}

TEST_CASE("names are those from outside") {
  CHECK(names("alpha * 2 + max(beta, alpha)") == std::vector<std::string>{"alpha", "max", "beta"});
  CHECK(names("x.y.z + {k: v, w: 1}.k") == std::vector<std::string>{"x", "v"});
  CHECK(names("'str ing' + \"a\" + 0x1F + 1e5 + .5e-3 /* c */ // d") == std::vector<std::string>{});
  CHECK(mentions(evaluated("aa + cc"), "f:3:15: error: neither"));  // all of them
  CHECK(names("c ? a : b") == std::vector<std::string>{"c", "a", "b"});
  CHECK(names("list.map(function (x) { return x + y; })") == std::vector<std::string>{"list", "y"});
  CHECK(names("a / b / c") == std::vector<std::string>{"a", "b", "c"});
  CHECK(names("/[/a]b/.test(s)") == std::vector<std::string>{"s"});
}

TEST_CASE("there is nothing outside") {
  const Engine engine;
  for (const std::string_view name : {"Duktape", "Date", "eval", "Function", "Proxy", "Reflect", "globalThis",
                                      "require", "Uint8Array", "Symbol", "performance"}) {
    CAPTURE(name);
    CHECK_FALSE(engine.has_global(name));
  }
  CHECK(engine.has_global("max"));
  CHECK(evaluated("Math.random ? 1 : 0", engine) == "0");
  CHECK(mentions(evaluated("(function () {}).constructor('return 1')()", engine), "fails"));
}

TEST_CASE("one evaluation cannot change the next") {
  const Engine engine;
  for (const std::string_view source : {"Math.max = null", "Object.prototype.x = 1", "Array.prototype.push = 1"}) {
    CAPTURE(source);
    CHECK(mentions(evaluated(source, engine), "the expression fails: TypeError"));
  }
  CHECK(evaluated("(function () { leak = 1; return 1; })()", engine) != "1");
  CHECK(evaluated("max(1, 2)", engine) == "2");
}

TEST_CASE("time and memory are bounded, and the engine works on") {
  const Engine engine({.time = std::chrono::milliseconds(50), .memory_bytes = 4u << 20});
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string_view source :
       {"(function () { for (;;) {} })()", "(function () { for (;;) { try { for (;;) {} } catch (e) {} } })()",
        "/(x+x+)+y/.test(Array(40).join('x'))",
        "Array(20000).join('xy').split(/(x?y?)+z|xy/).length + Array(9).join('x').replace(/x/g, function () { for (;;) "
        "{} })"}) {
    CAPTURE(source);
    const std::string text = evaluated(source, engine);
    CAPTURE(text);
    CHECK((mentions(text, "more than 50 ms") || mentions(text, "steps") || mentions(text, "RangeError")));
  }
  const Engine patient({.time = std::chrono::seconds(10), .memory_bytes = 4u << 20});
  for (const std::string_view source :
       {"(function () { var a = []; for (;;) a.push('x' + a.length); })()", "Array(300000).join('x')",
        "(function () { var s = 'x'; for (;;) s += s; })()"}) {
    CAPTURE(source);
    const std::string text = evaluated(source, patient);
    CAPTURE(text);
    CHECK((mentions(text, "more than 4 MB") || mentions(text, "more than 100000 elements")));
  }
  CHECK(mentions(evaluated("[].indexOf.call({length: 4294967295}, 1)", engine), "for arrays"));
  CHECK(mentions(evaluated("new Array(4294967295).indexOf(1)", engine), "more than 100000 elements"));
  CHECK(mentions(evaluated("(function f() { return f() + 1; })()", patient), "the expression fails"));
  CHECK(mentions(evaluated(std::string(3000, '(') + "1" + std::string(3000, ')'), engine), "not an expression"));
  CHECK(evaluated("a + 1", engine) == "3");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("an engine starts whatever its limits") {
  const Engine engine({.time = std::chrono::milliseconds(0), .memory_bytes = 1});
  CHECK(mentions(evaluated("'x' + a + s + b", engine), "more than"));
}

TEST_CASE("parameters may have any name a variable may have") {
  const std::vector<std::string_view> arguments{"1", "2", "3"};
  CHECK(Engine().compile("a", {"class", "a", "let"}).text(arguments) == "2");
  CHECK(Engine().compile("log + 1", {"log", "b", "c"}).text(arguments) == "2");  // a variable wins
}
