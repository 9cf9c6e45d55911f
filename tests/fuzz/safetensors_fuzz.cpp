// Any bytes: either a file whose every tensor can be looked at, or an InputError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "godwit/base/error.h"
#include "godwit/ml/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace godwit;
  try {
    const auto file = ml::Safetensors::parse({reinterpret_cast<const char*>(data), size}, "input");
    unsigned sum = 0;
    for (const auto& [name, view] : file.tensors()) {
      for (std::byte b : view.data) sum += std::to_integer<unsigned>(b);
      if (view.type == ml::DType::f32 || view.type == ml::DType::f64) sum += file.tensor<double>(name).size() != 0;
    }
    volatile unsigned sink = sum;
    (void)sink;
  } catch (const InputError&) {
  }
  return 0;
}
