// The safetensors format: named tensors and a map of texts in one block of bytes.
//
// Eight bytes give the length of a JSON header (little-endian), then the header, then the raw values, row-major and
// little-endian. Files come from elsewhere, so reading trusts nothing: the header's size is capped, its JSON may not
// nest deeper than the format does, every size is checked for overflow, and the tensors must cover the data exactly,
// without gap or overlap. Format: the documentation of huggingface/safetensors.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/ml/tensor.h"

namespace godwit::ml {

enum class DType : std::uint8_t {
  boolean,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64
};

std::size_t element_size(DType type);
std::string_view name_of(DType type);  // "F32"

struct TensorView {
  DType type = DType::f32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> data;  // into the bytes that were read
};

struct SafetensorsLimits {
  std::uint64_t header_bytes = 100u << 20;
};

// What a block of bytes holds. The bytes must outlive it.
class Safetensors {
 public:
  // Throws InputError; `file` names the bytes in its message.
  static Safetensors parse(std::string_view bytes, const std::string& file, const SafetensorsLimits& limits = {});

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }

  // The text or tensor of that name; throws InputError where it is missing.
  const std::string& text(const std::string& key) const;
  const TensorView& view(const std::string& name) const;
  // A copy as T, from F32 or F64 only. Throws InputError for another type, or another shape than `shape` if given.
  template <class T>
  Tensor<T> tensor(const std::string& name, const Shape* shape = nullptr) const;

 private:
  std::string file_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorView> tensors_;
};

// Gathers tensors and texts and gives the bytes of a file. The same content gives the same bytes.
class SafetensorsWriter {
 public:
  // Throws Error for a name that is there already.
  template <class T>
  void add(const std::string& name, const Tensor<T>& tensor);
  void set(const std::string& key, std::string value) { metadata_[key] = std::move(value); }
  std::string bytes() const;

 private:
  struct Entry {
    DType type;
    Shape shape;
    std::string data;
  };
  std::map<std::string, Entry> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace godwit::ml
