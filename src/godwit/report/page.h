// The comparison as one HTML page that needs nothing beside it: no script, no outside resource, light and dark.
#pragma once

#include <string>

#include "godwit/report/comparison.h"

namespace godwit::report {

std::string html_page(const Comparison& comparison);

}  // namespace godwit::report
