// Keys of experiment.yaml that are whole numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "godwit/base/yaml.h"

namespace godwit::experiment {

// At most 2³¹ − 1. Nothing where the key is absent, or its value is no such number, which is complained of.
inline std::optional<std::uint32_t> count(yaml::Fields& fields, std::string_view key, std::int64_t least) {
  const auto value = fields.integer(key, least, std::numeric_limits<std::int32_t>::max());
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace godwit::experiment
