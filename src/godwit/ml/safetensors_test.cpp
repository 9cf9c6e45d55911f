#include "godwit/ml/safetensors.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "godwit/base/error.h"

namespace godwit::ml {
namespace {

std::string file_of(const std::string& header, std::size_t data_bytes = 0) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, 'x');
}

std::string message_of(const std::string& bytes) {
  try {
    Safetensors::parse(bytes, "x.safetensors");
  } catch (const InputError& e) {
    return e.what();
  }
  return "read without complaint";
}

}  // namespace

TEST_CASE("what is written is read again, bit for bit") {
  Tensor<float> weight({2, 3});
  for (std::size_t i = 0; i < 6; ++i) weight[i] = 0.1f * static_cast<float>(i) - 0.25f;
  const Tensor<double> scalar(Shape{}, 1.0 / 3), none(Shape{0, 4});
  SafetensorsWriter writer;
  writer.add("b.weight", weight);
  writer.add("a", scalar);
  writer.add("none", none);
  writer.set("epoch", "7");
  writer.set("text", "\"quoted\"\nä");
  CHECK_THROWS_AS(writer.add("a", scalar), Error);
  const std::string bytes = writer.bytes();
  CHECK(bytes == writer.bytes());
  const Safetensors file = Safetensors::parse(bytes, "x.safetensors");
  CHECK(file.tensor<float>("b.weight") == weight);
  CHECK(file.tensor<double>("a") == scalar);
  CHECK(file.tensor<double>("none") == none);
  CHECK(file.text("epoch") == "7");
  CHECK(file.text("text") == "\"quoted\"\nä");
  CHECK(file.tensors().size() == 3);
  CHECK(file.tensor<double>("b.weight")[1] == double{weight[1]});
  const Shape other{3, 2};
  CHECK_THROWS_WITH_AS(file.tensor<float>("b.weight", &other), doctest::Contains("shape [2, 3], not [3, 2]"),
                       InputError);
  CHECK_THROWS_AS(file.tensor<float>("absent"), InputError);
  CHECK_THROWS_AS(file.text("absent"), InputError);
}

TEST_CASE("bytes made by another writer are read") {
  std::string bytes =
      file_of(R"({"t":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"__metadata__":{"format":"pt"}}   )", 16);
  const Safetensors file = Safetensors::parse(bytes, "x");
  CHECK(file.view("t").type == DType::i64);
  CHECK(file.view("t").data.size() == 16);
  CHECK(file.text("format") == "pt");
  CHECK_THROWS_WITH_AS(file.tensor<float>("t"), doctest::Contains("neither F32 nor F64"), InputError);
}

TEST_CASE("hostile files are refused, each with its reason") {
  const auto one = [](const std::string& fields, std::size_t data = 4) {
    return file_of("{\"t\":{" + fields + "}}", data);
  };
  struct Case {
    std::string bytes, reason;
  };
  std::string huge(8, '\xff');
  std::string deep = file_of("{\"t\":" + std::string(100000, '['));
  const std::vector<Case> cases{
      {"", "shorter than the eight bytes"},
      {huge + "{}", "header would take 18446744073709551615 bytes"},
      {file_of("{}").replace(0, 1, "\x7f"), "should take 127 bytes"},
      {file_of(""), "no JSON object"},
      {file_of("[]"), "no JSON object"},
      {file_of(R"({"t")"), "no JSON at its byte"},
      {file_of("{}", 1), "the data are 1 bytes"},
      {file_of(R"({} {})"), "no JSON at its byte"},
      {deep, "a list where none belongs"},
      {file_of(R"({"t":{"dtype":{}}})"), "an object where none belongs"},
      {file_of(R"({"t":1})"), "a number where none belongs"},
      {file_of(R"({"__metadata__":{"a":1}})"), "a number where none belongs"},
      {file_of(R"({"__metadata__":{"a":"x","a":"y"}})"), "given twice"},
      {one(R"("dtype":"F32","shape":[1])"), "needs dtype, shape and data_offsets"},
      {one(R"("dtype":"F33","shape":[1],"data_offsets":[0,4])"), "unknown type"},
      {one(R"("dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,4])"), "given twice"},
      {one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "not a count"},
      {one(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,4])"), "not a count"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "two numbers"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), "two numbers"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), "need 8 bytes, the offsets give 4"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), "outside the data"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), "outside the data"},
      {one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])", 0), "too large"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 8), "the data are 8 bytes"},
      {file_of(
           R"({"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
           2),
       "a name is given twice"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
           4),
       "tensors overlap"},
      {file_of(
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
           4),
       "belong to no tensor"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.reason);
    CHECK_MESSAGE(message_of(c.bytes).find(c.reason) != std::string::npos, message_of(c.bytes));
  }
}

}  // namespace godwit::ml
