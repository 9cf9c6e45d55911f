// What differs between two JSON documents, for people.
#pragma once

#include <string>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/base/yaml.h"

namespace godwit {

// One place where two documents differ. Of text of several lines there are lines, else before and after.
struct Difference {
  std::string path;                // "vars.alpha.list"
  std::string before, after;       // empty: it is not there
  std::vector<std::string> lines;  // "- old", "+ new", in their order
};

// Objects are compared member by member, everything else as a whole: a list is one value. In the order of `after`, then
// what only `before` has.
std::vector<Difference> differences(const Json& before, const Json& after);

// A tree of YAML as JSON. Scalars stay the text that was written; of a key that occurs twice the last counts.
Json to_json(const yaml::Node& node);

}  // namespace godwit
