#include "godwit/base/yaml.h"

#include <doctest/doctest.h>

#include <limits>

using namespace godwit;
using godwit::yaml::Node;

namespace {

Node parse(std::string_view text) {
  return yaml::parse(text, "f.yaml");
}

// What parse says about text that is wrong.
std::string fault(std::string_view text, const yaml::Limits& limits = {}) {
  try {
    yaml::parse(text, "f.yaml", limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string place(const Node& node) {
  return node.position.text();
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("scalars keep their text") {
  const Node node = parse("a: 1e-4\nb: 007\nc: no\nd: '5'\ne: ~\nf:\ng: 0x1F\n");
  CHECK(node.find("a")->text == "1e-4");
  CHECK(node.find("b")->text == "007");
  CHECK(node.find("c")->text == "no");
  CHECK(node.find("d")->text == "5");
  CHECK(node.find("d")->quoted);
  CHECK_FALSE(node.find("a")->quoted);
  CHECK(node.find("e")->is_null());
  CHECK(node.find("f")->is_null());
  CHECK(node.find("g")->text == "0x1F");
  CHECK(node.find("h") == nullptr);
}

TEST_CASE("positions count lines and bytes") {
  const Node node = parse("\xEF\xBB\xBFname: x\r\nlist:\r\n  - 1\r\n  - {é: ü, k: v}\r\n");
  CHECK(place(*node.find("name")) == "f.yaml:1:7");
  CHECK(place(node.find("list")->items[0]) == "f.yaml:3:5");
  const Node& map = node.find("list")->items[1];
  CHECK(place(map) == "f.yaml:4:5");
  CHECK(map.entries[1].position.text() == "f.yaml:4:14");
  CHECK(place(map.entries[1].value) == "f.yaml:4:17");
}

TEST_CASE("a block scalar is where its text begins") {
  const Node node = parse("a: |\n  one\n  two\nb: >-\n\n    folded\nc: &x\n  |2\n    deep\n");
  CHECK(node.find("a")->text == "one\ntwo\n");
  CHECK(node.find("a")->block);
  CHECK(node.find("a")->quoted);
  CHECK(place(*node.find("a")) == "f.yaml:2:3");
  CHECK(place(*node.find("b")) == "f.yaml:5:5");
  CHECK(node.find("c")->text == "  deep\n");
  CHECK(place(*node.find("c")) == "f.yaml:9:3");
}

TEST_CASE("JSON reads as YAML") {
  const Node node = parse(R"({"a": [1, 2.50, "x\u00e9"], "b": {"c": null, "d": true}})");
  CHECK(node.find("a")->items[1].text == "2.50");
  CHECK(node.find("a")->items[2].text == "xé");
  CHECK(node.find("b")->find("c")->is_null());
}

TEST_CASE("aliases and merge keys give what they name, and own keys win") {
  const Node node = parse(
      "x-base: &base {type: range, stop: 3}\n"
      "x-more: &more {stop: 9, step: 2}\n"
      "a:\n  <<: *base\n  stop: 5\n"
      "b:\n  first: 1\n  <<: [*base, *more]\n"
      "c: *base\n");
  CHECK(node.find("a")->find("stop")->text == "5");
  CHECK(node.find("a")->entries[0].key == "type");
  CHECK(node.find("a")->entries.size() == 2);
  CHECK(node.find("b")->entries.size() == 4);
  CHECK(node.find("b")->entries[0].key == "first");
  CHECK(node.find("b")->find("stop")->text == "3");
  CHECK(node.find("b")->find("step")->text == "2");
  CHECK(node.find("c")->find("type")->text == "range");
  CHECK(place(*node.find("c")->find("type")) == "f.yaml:1:22");
}

TEST_CASE("what is wrong is said with its place") {
  CHECK(fault("a: 1\nb: 2\na: 3\n") == "f.yaml:3:1: error: this key is here twice: 'a'\n  it is first at line 1");
  CHECK(mentions(fault("a: 1\na: 2\nb: 1\nb: 2\n"), "f.yaml:4:1"));  // all of them at once
  CHECK(mentions(fault("a: [1, 2\nb: 3\n"), "f.yaml:2:"));
  CHECK(mentions(fault("a: 1\n---\nb: 2\n"), "f.yaml:2:1: error: a second document"));
  CHECK(mentions(fault("a: \xC3(\n"), "f.yaml:1:4: error: this is not UTF-8"));
  CHECK(mentions(fault("a: b\x01\n"), "f.yaml:1:5: error: control characters"));
  CHECK(mentions(fault("? [a]\n: b\n"), "f.yaml:1:3: error: a key must be text, not a list"));
  CHECK(mentions(fault("a: *nobody\n"), "f.yaml:1:4: error: no anchor &nobody"));
  CHECK(mentions(fault("a: &a [*a]\n"), "no anchor &a"));
  CHECK(mentions(fault("a: !include x\n"), "tags like this one mean nothing here: '!include'"));
  CHECK(mentions(fault("a:\n  <<: 5\n"), "a merge key takes a mapping"));
  CHECK(mentions(fault("\ta: 1\n"),
                 "f.yaml:1:1: error: found character that cannot start any token\n  indent with spaces"));
  CHECK(mentions(fault("a: x > 2 ? b : c: d\n"), "needs quotes around it"));
  CHECK(mentions(fault(""), "the file is empty"));
  CHECK(fault("a: !!str 5\n") == "no error");
}

TEST_CASE("limits hold against hostile files") {
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'j'; ++c)
    laughs += std::string(1, c) + ": &" + c + " [*" + std::string(1, c - 1) + ",*" + std::string(1, c - 1) + ",*" +
              std::string(1, c - 1) + ",*" + std::string(1, c - 1) + ",*" + std::string(1, c - 1) + "]\n";
  CHECK(mentions(fault(laughs, {.nodes = 10'000}), "more than 10,000 values"));
  CHECK(mentions(fault(std::string(100, '[')), "nested more than 64 levels deep"));
  CHECK(mentions(fault("a: &a " + std::string(600, 'x') + "\nb: [*a, *a, *a]\n", {.bytes = 1000}), "of text"));
  CHECK(mentions(fault("a: 1", {.bytes = 2}), "larger than 2 B"));
  std::string chain = "a0: &a0 [[[[[[[[[[1]]]]]]]]]]\n";
  for (int i = 1; i < 10; ++i)
    chain +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [[[[[[[[[[*a" + std::to_string(i - 1) + "]]]]]]]]]]\n";
  CHECK(mentions(fault(chain), "nested more than 64"));
}

TEST_CASE("files that cannot be read say why") {
  CHECK_THROWS_AS(yaml::load("no/such/file.yaml"), SystemError);
  CHECK_THROWS_WITH_AS(yaml::load("."), "cannot read .: Is a directory", SystemError);
  CHECK_THROWS_AS(yaml::load("/dev/zero"), InputError);
}

TEST_CASE("fields become values where they are asked for") {
  const Node node = parse(
      "name: x\nn: 5\nf: 2.5e3\nb: yes\nmem: 128GB\ndisk: 1GB\nspan: 1h30m\none: a\nmany: [a, "
      "2]\nnothing:\nx-mine: 1\n");
  Diagnostics diagnostics;
  yaml::Fields fields(node, diagnostics, "the site", true);
  CHECK(fields.text("name") == "x");
  CHECK(fields.integer("n", 0, 10) == 5);
  CHECK(fields.number("f") == 2500.0);
  CHECK(fields.boolean("b") == true);
  CHECK(fields.memory_mb("mem") == 131072);
  CHECK(fields.disk_kb("disk") == 1048576);
  CHECK(fields.duration_s("span") == 5400);
  CHECK(fields.texts("one") == std::vector<std::string>{"a"});
  CHECK(fields.texts("many") == std::vector<std::string>{"a", "2"});
  CHECK(fields.text("nothing") == std::nullopt);
  CHECK(fields.has("nothing"));
  CHECK(fields.text("absent") == std::nullopt);
  CHECK(fields.position("f").text() == "f.yaml:3:4");
  fields.finish();
  CHECK(diagnostics.all().empty());
}

TEST_CASE("wrong fields are all reported") {
  const Node node = parse("cpu: 1\nn: 11\nm: -1\nb: maybe\nmem: lots\nt: [1]\nwords: {a: b}\nx-mine: 1\n");
  Diagnostics diagnostics;
  yaml::Fields fields(node, diagnostics, "site 'delta'");
  CHECK(fields.integer("cpus", 1, 64) == std::nullopt);
  CHECK(fields.integer("n", 0, 10) == std::nullopt);
  CHECK(fields.integer("m", 0, std::numeric_limits<std::int64_t>::max()) == std::nullopt);
  CHECK(fields.boolean("b") == std::nullopt);
  CHECK(fields.memory_mb("mem") == std::nullopt);
  CHECK(fields.text("t") == std::nullopt);
  CHECK(fields.texts("words").empty());
  fields.finish();
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.all()) all += diagnostic.render() + "\n";
  CHECK(all ==
        "f.yaml:2:4: error: 'n' must be a whole number from 0 to 10: '11'\n"
        "f.yaml:3:4: error: 'm' must be a whole number, 0 or more: '-1'\n"
        "f.yaml:4:4: error: 'b' must be true or false: 'maybe'\n"
        "f.yaml:5:6: error: 'mem' must be an amount of memory: 'lots'\n  write 128GB, or 131072 for megabytes\n"
        "f.yaml:6:4: error: 't' must be text, not a list\n"
        "f.yaml:7:8: error: 'words' must be text or a list of texts, not a mapping\n"
        "f.yaml:1:1: error: site 'delta' has no such key: 'cpu'\n  did you mean 'cpus'?\n"
        "f.yaml:8:1: error: site 'delta' has no such key: 'x-mine'\n  known here: cpus, n, m, b, mem, t, words\n");
}

TEST_CASE("fields of what is no mapping") {
  Diagnostics diagnostics;
  const Node list = parse("- a\n");
  yaml::Fields(list, diagnostics, "vars").finish();
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].render() == "f.yaml:1:1: error: vars must be a mapping (key: value), not a list");
}
