// Two checkpoints of one model in weight space: how far they are from each other, and what lies between them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "godwit/ml/safetensors.h"

namespace godwit::ml {

// Whether a tensor is one of the model's weights: floating-point, and not an optimizer's state, which is told by a name
// that begins with "optim" ("optimizer.first.…").
bool is_weight(std::string_view name, DType type);

struct WeightDistance {
  double difference = 0;          // ‖a − b‖, over all weights as one vector
  double norm_a = 0, norm_b = 0;  // ‖a‖, ‖b‖
  double dot = 0;                 // a · b
  std::size_t weights = 0;

  // ‖a − b‖ over the root of the mean of ‖a‖² and ‖b‖²: 0 for equal ones, √2 for independent ones of equal norm.
  double relative() const;
  double cosine() const;
};

// F16, BF16, F32 and F64 count. Throws InputError where the files hold other weights than each other, or none; `file_a`
// and `file_b` name them in its message.
WeightDistance weight_distance(const Safetensors& a, const std::string& file_a, const Safetensors& b,
                               const std::string& file_b);

// The bytes of a file between two: each weight is (1 − place) a + place b, rounded to the file's type; everything else
// is as in `a`. place 0 gives the bytes of `a`. Throws as weight_distance does, and where a file is no safetensors.
std::string interpolate(std::string_view a, const std::string& file_a, std::string_view b, const std::string& file_b,
                        double place);

}  // namespace godwit::ml
