#include "godwit/experiment/template.h"

#include <doctest/doctest.h>

namespace godwit::experiment {
namespace {

SubmitText text_at(std::string text, std::uint32_t line = 1, std::uint32_t column = 1, std::uint32_t indent = 0) {
  return {std::move(text), {"e.yaml", line, column}, indent};
}

// Each placeholder as <name>.
std::string filled(const std::string& text) {
  return BraceTemplate(text_at(text)).fill([](const Brace& brace) { return '<' + brace.name + '>'; });
}

TEST_CASE("words in braces are placeholders, other braces are themselves") {
  const std::pair<const char*, const char*> cases[] = {
      {"cpus = {resource.cpus}", "cpus = <resource.cpus>"},
      {"{a}{b_2.c}", "<a><b_2.c>"},
      {"{{literal}}", "{literal}"},
      {"{{{a}}}", "{<a>}"},
      {"{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}"},
      {"${HOME}/{x}", "${HOME}/<x>"},
      {"{} {1} {a b} {a.} {.a} {a..b} {-}", "{} {1} {a b} {a.} {.a} {a..b} {-}"},
      {"{open", "{open"},
      {"{open\n}", "{open\n}"},
      {"close }} {{", "close }} {"},
      {"{{ one line\n }} another", "{ one line\n }} another"},
      {"awk '{print $1}' {resource.disk}", "awk '{print $1}' <resource.disk>"},
      {"", ""},
  };
  for (const auto& [text, result] : cases) {
    CAPTURE(text);
    CHECK(filled(text) == result);
  }
}

TEST_CASE("placeholders know their places in the file") {
  const BraceTemplate braces(text_at("{a} {{x}} {b}\n  {c}\n{d}", 10, 5, 4));
  std::vector<std::string> places;
  for (const Brace& brace : braces.braces()) places.push_back(brace.name + " " + brace.position.text());
  CHECK(places == std::vector<std::string>{"a e.yaml:10:5", "b e.yaml:10:15", "c e.yaml:11:7", "d e.yaml:12:5"});
}

TEST_CASE("a value is the site's, else the experiment's default, else the documented one") {
  sites::Site site;
  sites::Site defaults;
  CHECK(resource_value(site, defaults, "cpus") == "1");
  CHECK(resource_value(site, defaults, "mem_mb") == "4096");
  CHECK(resource_value(site, defaults, "mem") == "4GB");
  CHECK(resource_value(site, defaults, "disk") == "10GB");
  CHECK(resource_value(site, defaults, "gpus") == "0");
  CHECK(resource_value(site, defaults, "gpu_memory") == "0");
  CHECK_FALSE(resource_value(site, defaults, "queue").has_value());
  defaults.cpus = 4;
  defaults.attributes = {{"scratch", "/tmp"}};
  CHECK(resource_value(site, defaults, "cpus") == "4");
  CHECK(resource_value(site, defaults, "scratch") == "/tmp");
  site.cpus = 16;
  site.attributes = {{"scratch", "/scratch"}};
  CHECK(resource_value(site, defaults, "cpus") == "16");
  CHECK(resource_value(site, defaults, "scratch") == "/scratch");
}

}  // namespace
}  // namespace godwit::experiment
