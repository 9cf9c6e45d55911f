#include "godwit/base/difference.h"

#include <doctest/doctest.h>

namespace godwit {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("members are compared by name, lists as one value") {
  const Json before = to_json(yaml::parse("epochs: 10\nvars: {alpha: [0.1, 0.2], seed: 1}\nsites: [a]\n", "a.yaml"));
  const Json after = to_json(yaml::parse("epochs: 20\nvars: {alpha: [0.1, 0.15, 0.2]}\nsites: [a]\nretry: 2\n", "b"));
  const std::vector<Difference> found = differences(before, after);
  REQUIRE(found.size() == 4);
  CHECK(found[0].path == "epochs");
  CHECK(found[0].before == "10");
  CHECK(found[0].after == "20");
  CHECK(found[1].path == "vars.alpha");
  CHECK(found[1].before == "[0.1, 0.2]");
  CHECK(found[1].after == "[0.1, 0.15, 0.2]");
  CHECK(found[2].path == "vars.seed");
  CHECK(found[2].after.empty());
  CHECK(found[3].path == "retry");
  CHECK(found[3].before.empty());
  CHECK(differences(before, before).empty());
}

TEST_CASE("text of several lines is compared line by line") {
  const auto lines = [](const char* before, const char* after) {
    return differences({{"t", before}}, {{"t", after}}).at(0).lines;
  };
  CHECK(lines("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n") == Texts{"- b", "+ x", "+ e"});
  CHECK(lines("a\nb\n", "a\n") == Texts{"- b"});
  CHECK(lines("a\n", "a\na\n") == Texts{"+ a"});
  CHECK(lines("a\n", "b") == Texts{"- a", "+ b"});
  CHECK(differences(Json::object(), {{"t", "a\nb"}}).at(0).lines == Texts{"+ a", "+ b"});
}

TEST_CASE("what was written stays as it was written") {
  CHECK(to_json(yaml::parse("a: 1e-4\nb: 007\nc: no\nd: ~\ne: {f: [1, ~]}\n", "x")).dump() ==
        R"({"a":"1e-4","b":"007","c":"no","d":null,"e":{"f":["1",null]}})");
}

}  // namespace
}  // namespace godwit
