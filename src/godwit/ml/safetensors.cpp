#include "godwit/ml/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <tuple>

#include "godwit/base/error.h"
#include "godwit/base/json.h"
#include "godwit/ml/safetensors_header.h"

static_assert(std::endian::native == std::endian::little, "safetensors values are little-endian");

namespace godwit::ml {
namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t size;
};
// In the order of DType.
constexpr std::array<TypeFacts, 15> kTypes{{{"BOOL", 1},
                                            {"U8", 1},
                                            {"I8", 1},
                                            {"F8_E5M2", 1},
                                            {"F8_E4M3", 1},
                                            {"U16", 2},
                                            {"I16", 2},
                                            {"F16", 2},
                                            {"BF16", 2},
                                            {"U32", 4},
                                            {"I32", 4},
                                            {"F32", 4},
                                            {"U64", 8},
                                            {"I64", 8},
                                            {"F64", 8}}};

[[noreturn]] void fail(const std::string& file, const std::string& message, const std::string& text = {}) {
  throw InputError(Diagnostic{Severity::error, Position{file}, message, text, {}});
}

std::optional<DType> type_named(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

// The bytes that a tensor of this type and shape takes; nothing where that overflows.
std::optional<std::uint64_t> byte_count(DType type, std::span<const std::uint64_t> shape) {
  std::uint64_t n = element_size(type);
  for (std::uint64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n)) return std::nullopt;
  return n;
}

// Every byte of the data must belong to exactly one tensor.
void check_cover(const std::vector<HeaderTensor>& tensors, std::uint64_t size, const std::string& file) {
  std::vector<const HeaderTensor*> by_begin;
  for (const HeaderTensor& t : tensors) by_begin.push_back(&t);
  std::sort(by_begin.begin(), by_begin.end(), [](const HeaderTensor* a, const HeaderTensor* b) {
    return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
  });
  std::uint64_t at = 0;
  for (const HeaderTensor* t : by_begin) {
    if (t->begin < at) fail(file, "tensors overlap", t->name);
    if (t->begin > at) fail(file, fmt::format("bytes {} to {} of the data belong to no tensor", at, t->begin), t->name);
    at = t->end;
  }
  if (at != size) fail(file, fmt::format("the tensors take {} bytes, the data are {} bytes", at, size));
}

TensorView view_of(const HeaderTensor& t, std::string_view data, const std::string& file) {
  const std::optional<DType> type = type_named(t.type);
  if (!type) fail(file, "unknown type of tensor '" + t.name + "'", t.type);
  const std::optional<std::uint64_t> bytes = byte_count(*type, t.shape);
  if (!bytes) fail(file, "the shape of the tensor is too large", t.name);
  if (t.begin > t.end || t.end > data.size())
    fail(file, fmt::format("offsets {} to {} lie outside the data of {} bytes", t.begin, t.end, data.size()), t.name);
  if (t.end - t.begin != *bytes)
    fail(file, fmt::format("type and shape need {} bytes, the offsets give {}", *bytes, t.end - t.begin), t.name);
  return {*type, t.shape, std::as_bytes(std::span(data.data() + t.begin, *bytes))};
}

template <class From, class T>
void copy_values(std::span<const std::byte> data, Tensor<T>& into) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    From value;
    std::memcpy(&value, data.data() + i * sizeof(From), sizeof(From));
    into[i] = static_cast<T>(value);
  }
}

}  // namespace

std::size_t element_size(DType type) {
  return kTypes[static_cast<std::size_t>(type)].size;
}
std::string_view name_of(DType type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

Safetensors Safetensors::parse(std::string_view bytes, const std::string& file, const SafetensorsLimits& limits) {
  if (bytes.size() < 8) fail(file, "shorter than the eight bytes a safetensors file begins with");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > limits.header_bytes)
    fail(file, fmt::format("its header would take {} bytes; the limit is {} bytes", length, limits.header_bytes));
  if (length > bytes.size() - 8)
    fail(file, fmt::format("its header should take {} bytes, the file ends after {} bytes", length, bytes.size() - 8));
  Safetensors result;
  result.file_ = file;
  const Header header = parse_header(bytes.substr(8, length), file);
  const std::string_view data = bytes.substr(8 + length);
  for (const HeaderTensor& t : header.tensors) result.tensors_.emplace(t.name, view_of(t, data, file));
  check_cover(header.tensors, data.size(), file);
  result.metadata_ = header.metadata;
  return result;
}

const std::string& Safetensors::text(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail(file_, "the metadata lack a key", key);
  return found->second;
}

const TensorView& Safetensors::view(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(file_, "a tensor is missing", name);
  return found->second;
}

template <class T>
Tensor<T> Safetensors::tensor(const std::string& name, const Shape* shape) const {
  const TensorView& v = view(name);
  Shape own(v.shape.begin(), v.shape.end());
  if (shape != nullptr && own != *shape)
    fail(file_, fmt::format("tensor has shape [{}], not [{}]", fmt::join(own, ", "), fmt::join(*shape, ", ")), name);
  if (v.type != DType::f32 && v.type != DType::f64)
    fail(file_, "tensor is neither F32 nor F64", fmt::format("{} of '{}'", name_of(v.type), name));
  Tensor<T> result(std::move(own));
  if (v.type == DType::f32)
    copy_values<float>(v.data, result);
  else
    copy_values<double>(v.data, result);
  return result;
}

template Tensor<float> Safetensors::tensor<float>(const std::string&, const Shape*) const;
template Tensor<double> Safetensors::tensor<double>(const std::string&, const Shape*) const;

template <class T>
void SafetensorsWriter::add(const std::string& name, const Tensor<T>& tensor) {
  const DType type = sizeof(T) == 4 ? DType::f32 : DType::f64;
  std::string data(reinterpret_cast<const char*>(tensor.data()), tensor.size() * sizeof(T));
  if (!tensors_.emplace(name, Entry{type, tensor.shape(), std::move(data)}).second)
    throw Error("two tensors are named '" + name + "'");
}

template void SafetensorsWriter::add<float>(const std::string&, const Tensor<float>&);
template void SafetensorsWriter::add<double>(const std::string&, const Tensor<double>&);

std::string SafetensorsWriter::bytes() const {
  Json header = Json::object();
  if (!metadata_.empty()) header["__metadata__"] = metadata_;
  std::size_t at = 0;
  for (const auto& [name, entry] : tensors_) {
    header[name] = Json{{"dtype", name_of(entry.type)},
                        {"shape", entry.shape},
                        {"data_offsets", Json::array({at, at + entry.data.size()})}};
    at += entry.data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the values are aligned
  const std::uint64_t length = text.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  out += text;
  out.reserve(out.size() + at);
  for (const auto& [name, entry] : tensors_) out += entry.data;
  return out;
}

}  // namespace godwit::ml
