// The JSON header of a safetensors file, read without building a tree: what does not fit the format is refused where
// it is met, so that a hostile header costs no more memory than its own length.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace godwit::ml {

struct HeaderTensor {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct Header {
  std::vector<HeaderTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Throws InputError.
Header parse_header(std::string_view json, const std::string& file);

}  // namespace godwit::ml
