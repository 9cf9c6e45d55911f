#include "godwit/ml/weights.h"

#include <Eigen/Core>
#include <cmath>
#include <cstring>

#include "godwit/base/error.h"

namespace godwit::ml {
namespace {

template <class T>
T element(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

// Calls fn with a value of the C++ type of a weight's tensor.
void with_type(DType type, const auto& fn) {
  if (type == DType::f16) fn(Eigen::half());
  if (type == DType::bf16) fn(Eigen::bfloat16());
  if (type == DType::f32) fn(float());
  if (type == DType::f64) fn(double());
}

// Calls fn for each weight of `a` with the two files' tensors of that name.
void each_weight(const Safetensors& a, const std::string& file_a, const Safetensors& b, const std::string& file_b,
                 const auto& fn) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(file_a + " and " + file_b + " are not checkpoints of one model: " + what);
  };
  std::size_t weights = 0;
  for (const auto& [name, view] : a.tensors()) {
    if (!is_weight(name, view.type)) continue;
    const auto other = b.tensors().find(name);
    if (other == b.tensors().end()) refuse("only the first holds '" + name + "'");
    if (other->second.type != view.type || other->second.shape != view.shape)
      refuse("'" + name + "' has another type or shape");
    fn(view, other->second);
    ++weights;
  }
  for (const auto& [name, view] : b.tensors())
    if (is_weight(name, view.type) && !a.tensors().contains(name)) refuse("only the second holds '" + name + "'");
  if (weights == 0) throw InputError(file_a + ": it holds no weights, no floating-point tensor at least");
}

}  // namespace

bool is_weight(std::string_view name, DType type) {
  const bool floating = type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
  return floating && !name.starts_with("optim");
}

double WeightDistance::relative() const {
  const double scale = std::sqrt((norm_a * norm_a + norm_b * norm_b) / 2);
  return scale > 0 ? difference / scale : 0;
}

double WeightDistance::cosine() const {
  return norm_a > 0 && norm_b > 0 ? dot / (norm_a * norm_b) : 1;
}

WeightDistance weight_distance(const Safetensors& a, const std::string& file_a, const Safetensors& b,
                               const std::string& file_b) {
  WeightDistance sum;  // of squares, until the end
  each_weight(a, file_a, b, file_b, [&](const TensorView& left, const TensorView& right) {
    with_type(left.type, [&]<class T>(T) {
      const std::size_t count = left.data.size() / sizeof(T);
      for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(element<T>(left.data.data(), i));
        const auto y = static_cast<double>(element<T>(right.data.data(), i));
        sum.difference += (x - y) * (x - y);
        sum.norm_a += x * x;
        sum.norm_b += y * y;
        sum.dot += x * y;
      }
      sum.weights += count;
    });
  });
  for (double* squares : {&sum.difference, &sum.norm_a, &sum.norm_b}) *squares = std::sqrt(*squares);
  return sum;
}

std::string interpolate(std::string_view a, const std::string& file_a, std::string_view b, const std::string& file_b,
                        double place) {
  std::string bytes(a);
  if (place == 0) return bytes;
  const Safetensors from = Safetensors::parse(bytes, file_a);
  const Safetensors to = Safetensors::parse(b, file_b);
  each_weight(from, file_a, to, file_b, [&](const TensorView& left, const TensorView& right) {
    with_type(left.type, [&]<class T>(T) {
      // The view lies in `bytes`: its place there is where the new values go.
      char* out = bytes.data() + (reinterpret_cast<const char*>(left.data.data()) - bytes.data());
      for (std::size_t i = 0; i < left.data.size() / sizeof(T); ++i) {
        const auto x = static_cast<double>(element<T>(left.data.data(), i));
        const auto y = static_cast<double>(element<T>(right.data.data(), i));
        const T value = static_cast<T>((1 - place) * x + place * y);
        std::memcpy(out + i * sizeof(T), &value, sizeof(T));
      }
    });
  });
  return bytes;
}

}  // namespace godwit::ml
