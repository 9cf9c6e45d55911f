#include "godwit/journal/definition.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <vector>

#include "godwit/base/json.h"

namespace godwit::journal {
namespace {

// What a chunk says, one line per node and edge.
std::vector<std::string> read(std::string_view json, bool good = true) {
  std::vector<std::string> out;
  const bool read = read_nodes(
      json,
      [&](const NodeDefinition& n) {
        out.push_back(fmt::format("{}|{}|{}|{}|{}-{}", n.name, n.kind, n.run, n.site, n.first_epoch, n.last_epoch));
      },
      [&](const EdgeDefinition& e) { out.push_back(fmt::format("{}>{}", e.parent, e.child)); });
  CHECK(read == good);
  return out;
}

TEST_CASE("nodes and edges come back as they were written") {
  const std::vector<NodeDefinition> nodes = {{"run0-train_epoch0", "train", "00c0ffee", "delta", 1, 5},
                                             {"quote\"\\\n\tü", "job", "", "", 0, 0}};
  const std::vector<EdgeDefinition> edges = {{0, 4'000'000'001}, {3, 4'000'000'002}};
  const std::string json = nodes_json(4'000'000'000, nodes, edges);
  CHECK(read(json) == std::vector<std::string>{"run0-train_epoch0|train|00c0ffee|delta|1-5", "quote\"\\\n\tü|job|||0-0",
                                               "0>4000000001", "3>4000000002"});
  CHECK(Json::parse(json)["first"] == 4'000'000'000);
}

TEST_CASE("an empty chunk") {
  CHECK(read(nodes_json(0, {}, {})).empty());
}

TEST_CASE("what a later version adds is passed over") {
  CHECK(read(R"({"first":0,"new":{"nodes":[{"name":"no"}]},"nodes":[{"name":"a","new":{"name":"no"},"list":["x",1],
                "last_epoch":2}],"edges":[[0,1,9],[1,2,{"x":3}]]})") ==
        std::vector<std::string>{"a||||0-2", "0>1", "1>2"});
}

TEST_CASE("text that is no chunk is refused") {
  for (const char* text : {"", "{", "[]", "[[0,1]]", R"({"nodes":[{"name":"a"}],"edges":[[0,99999999999]]})"}) {
    CAPTURE(text);
    CHECK_FALSE(read_nodes(text, [](const NodeDefinition&) {}, [](const EdgeDefinition&) {}));
  }
}

}  // namespace
}  // namespace godwit::journal
