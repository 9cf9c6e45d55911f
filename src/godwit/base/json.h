// JSON as Godwit uses it everywhere: objects keep the order in which their members were added.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace godwit {

using Json = nlohmann::ordered_json;

// As text, in one line unless indented. Bytes that are not UTF-8 become U+FFFD: names of files may have any.
inline std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace godwit
