// The comparison as one JSON document: everything that is computed, nothing cut.
#pragma once

#include "godwit/base/json.h"
#include "godwit/report/comparison.h"

namespace godwit::report {

// A value that is NaN or infinite is null, with "not_finite" beside it saying which. Times are in seconds.
Json to_json(const Comparison& comparison);

}  // namespace godwit::report
