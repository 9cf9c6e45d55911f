// What the operations say when shapes do not fit.
#pragma once

#include <fmt/format.h>

#include "godwit/base/error.h"
#include "godwit/ml/tensor.h"

namespace godwit::ml {

inline void require_shape(bool fits, const char* operation, const Shape& a, const Shape& b) {
  if (!fits)
    throw Error(fmt::format("{}: shapes [{}] and [{}] do not fit", operation, fmt::join(a, ", "), fmt::join(b, ", ")));
}

}  // namespace godwit::ml
