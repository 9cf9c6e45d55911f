#include "godwit/ml/safetensors_header.h"

#include <fmt/format.h>

#include <set>

#include "godwit/base/error.h"
#include "godwit/base/json.h"

namespace godwit::ml {
namespace {

// {"__metadata__": {key: text…}, name: {"dtype": text, "shape": [n…], "data_offsets": [begin, end]}…}
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(Header& header, const std::string& file) : header_(header), file_(file) {}

  bool start_object(std::size_t) override {
    if (place_ == Place::start) return enter(Place::top);
    if (place_ != Place::top) fail("an object where none belongs");
    if (name_ == "__metadata__") return enter(Place::metadata);
    header_.tensors.push_back({name_, {}, {}, 0, 0});
    has_type_ = has_shape_ = has_offsets_ = false;
    return enter(Place::tensor);
  }
  bool end_object() override {
    if (place_ == Place::tensor && !(has_type_ && has_shape_ && has_offsets_))
      fail("a tensor needs dtype, shape and data_offsets", name_);
    return enter(place_ == Place::top ? Place::end : Place::top);
  }
  bool key(std::string& key) override {
    if (place_ == Place::top && !names_.insert(key).second) fail("a name is given twice", key);
    if (place_ == Place::metadata && header_.metadata.contains(key)) fail("a metadata key is given twice", key);
    (place_ == Place::top ? name_ : field_) = key;
    return true;
  }
  bool string(std::string& text) override {
    if (place_ == Place::metadata) {
      header_.metadata[field_] = text;
      return true;
    }
    if (place_ != Place::tensor || field_ != "dtype") fail("a text where none belongs", text);
    once(has_type_);
    tensor().type = text;
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || (field_ != "shape" && field_ != "data_offsets")) fail("a list where none belongs");
    once(field_ == "shape" ? has_shape_ : has_offsets_);
    offsets_ = 0;
    return enter(Place::list);
  }
  bool end_array() override {
    if (field_ == "data_offsets" && offsets_ != 2) fail("data_offsets are two numbers", name_);
    return enter(Place::tensor);
  }
  bool number_unsigned(std::uint64_t n) override {
    if (place_ != Place::list) fail("a number where none belongs", std::to_string(n));
    if (field_ == "shape") {
      if (tensor().shape.size() == kMostDimensions) fail("a tensor has too many dimensions", name_);
      tensor().shape.push_back(n);
    } else if (++offsets_ <= 2) {
      (offsets_ == 1 ? tensor().begin : tensor().end) = n;
    }
    return true;
  }
  bool number_integer(std::int64_t n) override { fail("not a count", std::to_string(n)); }
  bool number_float(double, const std::string& text) override { fail("not a count", text); }
  bool boolean(bool) override { fail("true or false where none belongs"); }
  bool null() override { fail("null where none belongs"); }
  bool binary(Json::binary_t&) override { fail("binary data where none belong"); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) override {
    fail(fmt::format("the header is no JSON at its byte {}", byte));
  }

 private:
  enum class Place { start, top, metadata, tensor, list, end };
  static constexpr std::size_t kMostDimensions = 64;

  [[noreturn]] void fail(const std::string& message, const std::string& text = {}) const {
    throw InputError(Diagnostic{Severity::error, Position{file_}, message, text.substr(0, 200), {}});
  }
  bool enter(Place place) {
    place_ = place;
    return true;
  }
  void once(bool& seen) const {
    if (seen) fail("a tensor's field is given twice", field_);
    seen = true;
  }
  HeaderTensor& tensor() { return header_.tensors.back(); }

  Header& header_;
  const std::string& file_;
  Place place_ = Place::start;
  std::string name_, field_;
  std::set<std::string> names_;
  bool has_type_ = false, has_shape_ = false, has_offsets_ = false;
  int offsets_ = 0;
};

}  // namespace

Header parse_header(std::string_view json, const std::string& file) {
  Header header;
  HeaderReader reader(header, file);
  if (json.empty() || json.front() != '{')
    throw InputError(Diagnostic{Severity::error, Position{file}, "the header is no JSON object", {}, {}});
  Json::sax_parse(json, &reader);
  return header;
}

}  // namespace godwit::ml
