// docs/reference/templates.md names every brace, macro and environment variable that there is.
#include <doctest/doctest.h>

#include <cstdlib>

#include "godwit/base/file.h"
#include "godwit/experiment/build.h"
#include "godwit/experiment/template.h"

namespace {

using namespace godwit;

TEST_CASE("the page on templates leaves nothing out") {
  const char* source = std::getenv("GODWIT_SOURCE");
  const std::string page =
      read_file(std::string(source == nullptr ? "../.." : source) + "/docs/reference/templates.md");
  const auto says = [&](const std::string& text) { return page.find(text) != std::string::npos; };
  for (const std::string& field : sites::resource_fields()) {
    CAPTURE(field);
    CHECK(says("`{resource." + field + "}`"));
    const std::optional<std::string> otherwise = experiment::resource_value({}, {}, field);
    if (otherwise) CHECK(says("| `" + *otherwise + "` |"));
  }
  for (const std::string& name : experiment::bookkeeping_variables()) {
    CAPTURE(name);
    CHECK(says("$(" + name + ")"));
  }
}

}  // namespace
