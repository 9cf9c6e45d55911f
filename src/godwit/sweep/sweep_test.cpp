#include "godwit/sweep/sweep.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>
#include <vector>

#include "godwit/base/text.h"

using namespace godwit;
using sweep::Sweep;

namespace {

// A directory for a table's file.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "godwit_sweep_test") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "sub");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, std::string_view text) { std::ofstream(path_ / name) << text; }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// The sweep of an experiment's text, with `vars`, and perhaps include and exclude.
Sweep sweep_of(std::string_view text, Diagnostics& diagnostics, const std::string& folder = {},
               const std::string& seed = "7") {
  static const yaml::Node kNothing;
  const yaml::Node root = yaml::parse(text, "e.yaml");
  const yaml::Node* vars = root.find("vars");
  sweep::Variables variables =
      sweep::read(vars == nullptr ? kNothing : *vars, {.seed = seed, .base_directory = folder}, diagnostics);
  return Sweep(std::move(variables), root.find("include"), root.find("exclude"), diagnostics);
}

// "a=1 b=x | a=1 b=y", or the errors.
std::string shown(std::string_view text, const std::string& folder = {}, const std::string& seed = "7") {
  Diagnostics diagnostics;
  try {
    const Sweep sweep = sweep_of(text, diagnostics, folder, seed);
    diagnostics.throw_if_errors();
    std::string out;
    std::uint64_t count = 0;
    sweep.for_each([&](std::span<const std::string_view> values) {
      if (count++ != 0) out += " | ";
      for (std::size_t i = 0; i < values.size(); ++i)
        out += (i == 0 ? "" : " ") + sweep.names()[i] + "=" + std::string(values[i]);
    });
    CHECK(sweep.count() == count);
    CHECK(sweep.most() >= count);
    return out;
  } catch (const InputError& error) {
    return error.what();
  }
}

// The values of variable v as `definition` gives them: "1, 2".
std::string values(const std::string& definition, const std::string& seed = "7") {
  std::string text = shown("vars: {v: " + definition + "}", {}, seed);
  std::string out;
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = text.find(" | ", begin);
    const std::string part = text.substr(begin, end == std::string::npos ? end : end - begin);
    if (!part.starts_with("v=")) return text;
    out += (out.empty() ? "" : ", ") + part.substr(2);
    begin = end == std::string::npos ? end : end + 3;
  }
  return out;
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each type gives its values") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"5", "5"},
      {"1e-4", "1e-4"},
      {"[007, no, 1e-4, 'a b']", "007, no, 1e-4, a b"},
      {"{type: value, value: 30, description: d}", "30"},
      {"{type: value, value: null}", "null"},
      {"{type: range, stop: 3}", "0, 1, 2"},
      {"{type: range, start: 0, stop: 0.5, step: 0.1}", "0, 0.1, 0.2, 0.3, 0.4"},
      {"{type: range, start: 0.1, stop: 0.3, step: 0.1, stop_inclusive: true}", "0.1, 0.2, 0.3"},
      {"{type: range, start: 2, stop: 0, step: -1}", "2, 1"},
      {"{type: linspace, start: 0, stop: 1, num: 5}", "0, 0.25, 0.5, 0.75, 1"},
      {"{type: linspace, start: 0, stop: 1, num: 5, endpoint: false}", "0, 0.2, 0.4, 0.6, 0.8"},
      {"{type: linspace, start: 0, stop: 1, num: 4}", "0, 0.333333333333333, 0.666666666666667, 1"},
      {"{type: linspace, start: 0.1, stop: 0.3, num: 3}", "0.1, 0.2, 0.3"},
      {"{type: linspace, start: 4, stop: 9, num: 1}", "4"},
      {"{type: logspace, start: -4, stop: -1, num: 4}", "0.0001, 0.001, 0.01, 0.1"},
      {"{type: logspace, start: 0, stop: 1, num: 3}", "1, 3.16227766016838, 10"},
      {"{type: logspace, start: 0, stop: 4, num: 5, base: 2}", "1, 2, 4, 8, 16"},
      {"{type: list, values: [a, b]}", "a, b"},
      {"{type: expression, expression: '1 / 8'}", "0.125"},
  };
  for (const auto& [definition, expected] : cases) {
    CAPTURE(definition);
    CHECK(values(definition) == expected);
  }
}

TEST_CASE("the first variable varies slowest") {
  CHECK(shown("vars: {a: [1, 2], n: 5, b: [x, y]}") == "a=1 n=5 b=x | a=1 n=5 b=y | a=2 n=5 b=x | a=2 n=5 b=y");
  CHECK(shown("name: no variables") == "");
}

TEST_CASE("zip groups and tables advance together") {
  CHECK(shown("vars:\n"
              "  a: {type: list, values: [1, 2], zip: g}\n"
              "  c: [p, q]\n"
              "  b: {type: range, stop: 2, zip: g}\n") == "a=1 c=p b=0 | a=1 c=q b=0 | a=2 c=p b=1 | a=2 c=q b=1");
  CHECK(shown("vars: {pairs: {type: zip, vars: {a: [1, 2], b: [3, 4]}}}") == "a=1 b=3 | a=2 b=4");
  CHECK(shown("vars: {t: {type: table, rows: [{x: 1, y: 1e-4}, {y: no, x: 2}]}}") == "x=1 y=1e-4 | x=2 y=no");
  CHECK(shown("vars: {t: {type: table, columns: [x, y], rows: [[1, 2], [3, 4]]}}") == "x=1 y=2 | x=3 y=4");
  CHECK(shown("vars: {t: {type: table, zip: g, rows: [{x: 1}, {x: 2}]}, z: {type: list, values: [a, b], zip: g}}") ==
        "x=1 z=a | x=2 z=b");
  CHECK(mentions(shown("vars: {a: {type: list, values: [1, 2], zip: g}, b: {type: range, stop: 3, zip: g}}"),
                 "e.yaml:1:49: error: variables that advance together need equally many values: 'b'\n"
                 "  it has 3 values, 'a' has 2 values"));
}

TEST_CASE("tables come from files beside the experiment") {
  Folder folder;
  folder.write("points.csv", "x,y\n1,2\n3,4\n");
  folder.write("sub/points.txt", "1 2\n3 4\n");
  folder.write("points.json", R"([{"x": 1.50, "y": "b"}])");
  const auto read = [&](const std::string& fields) {
    return shown("vars: {t: {type: table, " + fields + "}}", folder.path());
  };
  CHECK(read("file: points.csv") == "x=1 y=2 | x=3 y=4");
  CHECK(read("file: points.csv, columns: [y]") == "y=2 | y=4");
  CHECK(read("file: sub/points.txt, header: false, columns: [p, q]") == "p=1 q=2 | p=3 q=4");
  CHECK(read("file: points.json") == "x=1.50 y=b");
  CHECK(mentions(read("file: points.csv, columns: [z]"), "the table has no such column: 'z'"));
  CHECK(mentions(read("file: ../points.csv"), "must be beside the experiment"));
  CHECK(mentions(read("file: /etc/passwd, format: txt"), "must be beside the experiment"));
  CHECK(mentions(read("file: sub, format: csv"), "this is not a file"));
  CHECK(mentions(read("file: nothing.csv"), "there is no such file: 'nothing.csv'"));
  CHECK(mentions(read("file: points.parquet"), "format is not known"));
  folder.write("bad.csv", "x,epoch\n1,2\n3\n");
  CHECK(mentions(read("file: bad.csv"), "bad.csv:3:1: error: this row has 1 value"));
  folder.write("bad.csv", "x,epoch\n1,2\n");
  CHECK(mentions(read("file: bad.csv"), "bad.csv:1:3: error: this name is reserved"));
}

TEST_CASE("expressions follow the variables they use") {
  CHECK(shown("vars:\n"
              "  width: {type: expression, expression: depth * step_size}\n"
              "  step_size: {type: expression, expression: 'depth > 2 ? 64 : 32'}\n"
              "  depth: [2, 4]\n") == "width=64 step_size=32 depth=2 | width=256 step_size=64 depth=4");
  CHECK(values("{type: expression, expression: '0.1 + 0.2'}") == "0.3");
  CHECK(mentions(shown("vars:\n  a: {type: expression, expression: b + 1}\n  b: {type: expression, expression: a}\n"),
                 "e.yaml:2:3: error: these expressions need each other: 'a → b → a'"));
  CHECK(mentions(shown("vars: {alpha: 1, b: {type: expression, expression: alhpa * 2}}"),
                 "e.yaml:1:52: error: neither a variable nor a function has this name: 'alhpa'\n"
                 "  did you mean 'alpha'?"));
  CHECK(mentions(shown("vars: {a: [1, 0], b: {type: expression, expression: 1 / a}}"),
                 "does not give a finite number: '1 / a'\n  for a = 0"));
}

TEST_CASE("include and exclude choose") {
  const std::string vars = "vars: {a: [1, 2, 3], b: [x, y]}\n";
  CHECK(shown(vars + "exclude: [\"a > 1 && b == 'y'\", {a: 3}]\n") == "a=1 b=x | a=1 b=y | a=2 b=x");
  CHECK(shown(vars + "include: [a == 2, \"b == 'y' && a == 3\"]\n") == "a=2 b=x | a=2 b=y | a=3 b=y");
  CHECK(shown(vars + "include: [a == 2, {a: 9, b: z}]\n") == "a=2 b=x | a=2 b=y | a=9 b=z");
  // One that is there already is not repeated, one that was excluded comes back.
  CHECK(shown(vars + "include: [{a: 1, b: x}, {a: 3, b: x}]\nexclude: a == 3\n") ==
        "a=1 b=x | a=1 b=y | a=2 b=x | a=2 b=y | a=3 b=x");
  CHECK(shown(vars + "exclude: {a: 1.0}\n") == "a=2 b=x | a=2 b=y | a=3 b=x | a=3 b=y");
  CHECK(shown("vars: {a: [1, 2], n: 7, e: {type: expression, expression: a * n}}\ninclude: [{a: 5}]\n") ==
        "a=1 n=7 e=7 | a=2 n=7 e=14 | a=5 n=7 e=35");
  CHECK(shown(vars + "exclude: [a > 0]\n") == "");
  CHECK(mentions(shown(vars + "exclude: [{aa: 1}, a >]\n"), "e.yaml:2:12: error: there is no such variable: 'aa'"));
  CHECK(mentions(shown(vars + "exclude: [{aa: 1}, a >]\n"), "e.yaml:2:20: error: this is not an expression"));
  CHECK(mentions(shown(vars + "include: [{a: 1}]\n"), "it lacks: 'b'"));
}

TEST_CASE("random values depend on the seed and the name only") {
  const std::string uniform = "{type: random, distribution: uniform, low: 0, high: 1, count: 3}";
  CHECK(values(uniform) == values(uniform));
  CHECK(values(uniform) != values(uniform, "8"));
  const std::string more = values("{type: random, distribution: uniform, low: 0, high: 1, count: 4}");
  CHECK(more.starts_with(values(uniform) + ", "));
  CHECK(shown("vars: {a: 1, v: " + uniform + "}").starts_with("a=1 v=" + values(uniform).substr(0, 5)));
  CHECK(values("{type: random, distribution: choice, values: [x]}") == "x");
  CHECK(values("{type: random, distribution: integer, low: 3, high: 3, count: 2}") == "3, 3");
  CHECK(values("{type: random, distribution: choice, values: [x, y], weights: [0, 2], count: 3}") == "y, y, y");
}

TEST_CASE("property: random values lie where they should, and near their mean") {
  struct Case {
    std::string parameters;
    double least, most, mean, tolerance;
  };
  const std::vector<Case> cases{
      {"distribution: uniform, low: -2, high: 4", -2, 4, 1, 0.15},
      {"distribution: log_uniform, low: 1e-4, high: 1", 1e-4, 1, 0.10856, 0.02},
      {"distribution: integer, low: 1, high: 6", 1, 6, 3.5, 0.15},
      {"distribution: normal, mean: 10, std: 2", -5, 25, 10, 0.15},
      {"distribution: uniform, low: 0, high: 1, digits: 2", 0, 1, 0.5, 0.03},
  };
  for (const Case& wanted : cases) {
    CAPTURE(wanted.parameters);
    Diagnostics diagnostics;
    const Sweep sweep = sweep_of("vars: {v: {type: random, count: 4000, " + wanted.parameters + "}}", diagnostics);
    REQUIRE_FALSE(diagnostics.has_errors());
    double sum = 0;
    std::set<std::string> distinct;
    sweep.for_each([&](std::span<const std::string_view> v) {
      const double value = std::stod(std::string(v[0]));
      REQUIRE(value >= wanted.least);
      REQUIRE(value <= wanted.most);
      sum += value;
      distinct.emplace(v[0]);
    });
    CHECK(sum / 4000 == doctest::Approx(wanted.mean).epsilon(wanted.tolerance));
    CHECK(distinct.size() >= 6);
  }
}

TEST_CASE("what is wrong with variables is told all at once") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"epoch: 1", "e.yaml:1:8: error: this name is reserved"},
      {"JOB: 1", "reserved"},
      {"ClusterId: 1", "reserved"},
      {"a-b: 1", "a variable's name is letters, digits and underscores"},
      {"2x: 1", "a variable's name is letters"},
      {"queue_size: 1", "cannot begin with 'queue'"},
      {"a: 1, A: 2", "e.yaml:1:14: error: two variables have this name, and case does not matter: 'A'"},
      {"a: ", "this variable has no value: 'a'"},
      {"a: []", "this list has no values"},
      {"a: [1, [2]]", "e.yaml:1:15: error: a value must be text or a number, not a list"},
      {"a: {value: 1}", "this variable has no type: 'a'\n  write type: value"},
      {"a: {type: rnage, stop: 1}", "there is no such type of variable: 'rnage'\n  did you mean 'range'?"},
      {"a: {type: range}", "this variable needs 'stop'"},
      {"a: {type: range, stop: ten}", "'stop' must be a number: 'ten'"},
      {"a: {type: range, stop: 3, stpe: 1}", "variable 'a' has no such key: 'stpe'\n  did you mean 'step'?"},
      {"a: {type: range, stop: 0}", "this range has no values: '0 to 0 by 1'\n  a range is half-open"},
      {"a: {type: range, start: 5, stop: 0}", "the step has the wrong sign"},
      {"a: {type: range, stop: 1, step: 0}", "'step' must not be 0"},
      {"a: {type: range, stop: 1e300}", "needs more than 36 digits"},
      {"a: {type: range, stop: 1e18}", "more than 1,000,000,000,000,000 values"},
      {"a: {type: linspace, start: 0, stop: 1}", "this variable needs 'num'"},
      {"a: {type: linspace, start: 0, stop: 1, num: 0}", "'num' must be a whole number from 1"},
      {"a: {type: logspace, start: 0.001, stop: 1000, num: 3}", "start and stop are exponents"},
      {"a: {type: logspace, start: 0, stop: 1, num: 3, base: -2}", "'base' must be more than 0"},
      {"a: {type: list, values: 5}", "values must be a list, not text: '5'"},
      {"a: {type: value, value: [1, 2]}", "write type: list"},
      {"a: {type: random, distribution: uniform}", "this variable needs 'low'"},
      {"a: {type: random, distribution: gauss}", "there is no such distribution: 'gauss'"},
      {"a: {type: random, distribution: log_uniform, low: 0, high: 1}", "its logarithm is taken"},
      {"a: {type: random, distribution: uniform, low: 1, high: 1}", "'high' must be more than 'low'"},
      {"a: {type: random, distribution: integer, low: 0.5, high: 1}", "'low' must be a whole number"},
      {"a: {type: random, distribution: choice, values: [a, b], weights: [1]}", "'weights' must be"},
      {"a: {type: table}", "a table needs either 'rows' or 'file'"},
      {"a: {type: expression, expression: (1}", "'(' is never closed"},
      {"a: {type: zip, vars: {b: [1], c: [1, 2]}}", "equally many values: 'c'"},
      {"a: {type: zip, vars: [1]}", "vars must be a mapping"},
  };
  for (const auto& [vars, expected] : cases) {
    CAPTURE(vars);
    const std::string text = shown("vars: {" + vars + "}");
    CAPTURE(text);
    CHECK(mentions(text, expected));
  }
  // All at once, and an expression over a variable that was reported is not reported again.
  const std::string all = shown("vars:\n  a: {type: rnage}\n  b: {type: expression, expression: a * 2}\n  epoch: 1\n");
  CHECK(split(all, '\n').size() == 3);
  CHECK(mentions(shown("vars: [1]"), "vars must be a mapping from name to variable, not a list"));
}

TEST_CASE("run_number and the epochs may be the user's") {
  CHECK(shown("vars: {run_number: {type: range, stop: 2}, epochs: 30, epochs_per_job: 5}") ==
        "run_number=0 epochs=30 epochs_per_job=5 | run_number=1 epochs=30 epochs_per_job=5");
}

TEST_CASE("variables can be looked up") {
  Diagnostics diagnostics;
  const Sweep sweep = sweep_of("vars: {epochs: {type: value, value: 30, description: d}, a: [1, 2]}", diagnostics);
  const sweep::Variables& variables = sweep.variables();
  CHECK(variables.single("Epochs") == "30");
  CHECK(variables.single("a") == std::nullopt);
  CHECK(variables.find("a")->count() == 2);
  CHECK(variables.find("nothing") == nullptr);
  CHECK(variables.find("epochs")->description == "d");
  CHECK(variables.find("a")->position.text() == "e.yaml:1:58");
  CHECK(sweep.shape() == "2");
}

TEST_CASE("a sweep is counted before it is built") {
  Diagnostics diagnostics;
  const std::string huge = "{type: range, stop: 1e15}";
  const Sweep sweep = sweep_of("vars: {a: " + huge + ", b: " + huge + ", c: [1, 2]}", diagnostics);
  CHECK(sweep.most() == std::numeric_limits<std::uint64_t>::max());
  CHECK(sweep.shape() == "1000000000000000 × 1000000000000000 × 2");
  int seen = 0;
  sweep.for_each_ids([&](std::span<const Interner::Id> values) {
    if (seen == 2) CHECK(sweep.strings().view(values[1]) == "1");
    return ++seen < 3;
  });
  CHECK(seen == 3);
}
