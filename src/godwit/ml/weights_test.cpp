#include "godwit/ml/weights.h"

#include <doctest/doctest.h>

#include <cmath>

#include "godwit/base/error.h"

namespace godwit::ml {
namespace {

template <class T>
std::string file_of(std::initializer_list<T> weights, const std::string& name = "model.w", double moment = 9) {
  Tensor<T> tensor({weights.size()});
  std::size_t i = 0;
  for (const T weight : weights) tensor[i++] = weight;
  Tensor<double> other({1});
  other[0] = moment;
  SafetensorsWriter writer;
  writer.add(name, tensor);
  writer.add("optimizer.first.w", other);
  writer.set("epoch", "3");
  return writer.bytes();
}

WeightDistance between(const std::string& a, const std::string& b) {
  return weight_distance(Safetensors::parse(a, "a"), "a", Safetensors::parse(b, "b"), "b");
}

TEST_CASE("the distance of weights, worked by hand, leaves the optimizer out") {
  const WeightDistance found = between(file_of<float>({3, 4}), file_of<float>({4, 3}, "model.w", -100));
  CHECK(found.weights == 2);
  CHECK(found.difference == doctest::Approx(std::sqrt(2.0)));
  CHECK(found.norm_a == 5);
  CHECK(found.relative() == doctest::Approx(std::sqrt(2.0) / 5));
  CHECK(found.cosine() == doctest::Approx(24.0 / 25));
  const std::string same = file_of<double>({1, 2, 3});
  CHECK(between(same, same).relative() == 0);
  CHECK(between(same, same).cosine() == doctest::Approx(1));
}

TEST_CASE("between two checkpoints: weights mixed, the rest as in the first") {
  const std::string a = file_of<float>({0, 10}, "model.w", 1);
  const std::string b = file_of<float>({1, 30}, "model.w", 2);
  CHECK(interpolate(a, "a", b, "b", 0) == a);
  const std::string mixed = interpolate(a, "a", b, "b", 0.25);
  const Safetensors file = Safetensors::parse(mixed, "mixed");
  CHECK(file.tensor<float>("model.w")[0] == 0.25F);
  CHECK(file.tensor<float>("model.w")[1] == 15);
  CHECK(file.tensor<double>("optimizer.first.w")[0] == 1);
  CHECK(file.text("epoch") == "3");
  CHECK(Safetensors::parse(interpolate(a, "a", b, "b", 1), "b").tensor<float>("model.w")[1] == 30);
}

TEST_CASE("files of different models are refused with what differs") {
  struct Case {
    std::string a, b, said;
  };
  SafetensorsWriter nothing;
  nothing.set("x", "y");
  for (const Case& c : {Case{file_of<float>({1}), file_of<float>({1}, "model.v"), "only the first holds 'model.w'"},
                        Case{file_of<float>({1}), file_of<float>({1, 2}), "another type or shape"},
                        Case{file_of<float>({1}), file_of<double>({1}), "another type or shape"},
                        Case{nothing.bytes(), nothing.bytes(), "it holds no weights"}}) {
    CAPTURE(c.said);
    try {
      between(c.a, c.b);
      FAIL("accepted");
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find(c.said) != std::string::npos);
    }
  }
  CHECK_THROWS_AS(interpolate("not safetensors", "a", "neither", "b", 0.5), InputError);
}

}  // namespace
}  // namespace godwit::ml
