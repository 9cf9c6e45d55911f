// Lines of a job's metrics file: JSON objects, one per epoch, in which NaN and infinities may stand bare, as many
// programs write them when a model diverges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "godwit/base/json.h"

namespace godwit::journal {

// The JSON of an `epoch` event for a line at `offset` (bytes) of the metrics file. Bare NaN, Infinity and -Infinity
// (in these spellings and as nan, inf, -inf) become texts. Nothing where the line is not an object.
std::optional<std::string> metrics_event(std::string_view line, std::uint64_t offset);

// The epoch that a line names: a whole number, also where it is written as 3.0. Nothing where it names none, or none
// that can be one (a fraction, a negative, 1e99).
std::optional<std::uint32_t> named_epoch(const Json& line);

// A metric as a number: a JSON number, or one of the texts "NaN", "Infinity", "-Infinity".
std::optional<double> metric_value(const Json& value);

}  // namespace godwit::journal
