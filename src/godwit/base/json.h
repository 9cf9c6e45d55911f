// JSON as Godwit uses it everywhere: objects keep the order in which their members were added.
#pragma once

#include <nlohmann/json.hpp>

namespace godwit {

using Json = nlohmann::ordered_json;

}  // namespace godwit
