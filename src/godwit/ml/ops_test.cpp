#include "godwit/ml/ops.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/ml/attention.h"

namespace godwit::ml {
namespace {

using Inputs = std::vector<Tensor<double>>;
using Build = std::function<Var(Tape<double>&, const std::vector<Var>&)>;

Tensor<double> random_tensor(Shape shape, Random& random) {
  Tensor<double> t(std::move(shape));
  for (double& x : t.values()) x = random.normal();
  return t;
}

// The result of `build` reduced to one number, each element with its own weight so that no gradient cancels.
double evaluate(const Build& build, const Inputs& inputs, Inputs* gradients) {
  Tape<double> tape;
  std::vector<Var> vars;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    vars.push_back(gradients ? tape.parameter(inputs[i], (*gradients)[i]) : tape.frozen(inputs[i]));
  const Var out = build(tape, vars);
  Random random(99, 7);
  const Var loss = sum(tape, mul(tape, out, tape.constant(random_tensor(tape.value(out).shape(), random))));
  if (gradients) tape.backward(loss);
  return tape.value(loss)[0];
}

// The largest difference between the tape's gradient and central differences, relative to the largest gradient.
double gradient_error(const Build& build, Inputs inputs) {
  Inputs gradients;
  for (const Tensor<double>& t : inputs) gradients.emplace_back(t.shape());
  evaluate(build, inputs, &gradients);
  double worst = 0, largest = 1e-6;
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t e = 0; e < inputs[i].size(); ++e) {
      const double kept = inputs[i][e];
      inputs[i][e] = kept + kStep;
      const double above = evaluate(build, inputs, nullptr);
      inputs[i][e] = kept - kStep;
      const double below = evaluate(build, inputs, nullptr);
      inputs[i][e] = kept;
      worst = std::max(worst, std::abs((above - below) / (2 * kStep) - gradients[i][e]));
      largest = std::max(largest, std::abs(gradients[i][e]));
    }
  return worst / largest;
}

struct Case {
  std::string name;
  std::vector<Shape> shapes;
  Build build;
};

const std::vector<std::int32_t> kIds{2, 0, 2, 1};
const RelativePositions kChain = chain_positions(5, 2);

std::vector<Case> cases() {
  using V = const std::vector<Var>&;
  using Tp = Tape<double>&;
  return {
      {"matmul", {{3, 4}, {4, 2}}, [](Tp t, V v) { return matmul(t, v[0], v[1]); }},
      {"linear", {{5, 3}, {3, 4}, {4}}, [](Tp t, V v) { return linear(t, v[0], v[1], v[2]); }},
      {"embedding", {{3, 4}}, [](Tp t, V v) { return embedding(t, v[0], kIds); }},
      {"add", {{3, 4}, {3, 4}}, [](Tp t, V v) { return add(t, v[0], v[1]); }},
      {"add itself", {{3, 4}}, [](Tp t, V v) { return add(t, v[0], v[0]); }},
      {"mul", {{3, 4}, {3, 4}}, [](Tp t, V v) { return mul(t, v[0], v[1]); }},
      {"mul itself", {{3, 4}}, [](Tp t, V v) { return mul(t, v[0], v[0]); }},
      {"scale", {{3, 4}}, [](Tp t, V v) { return scale(t, v[0], -2.5); }},
      {"add_rows", {{6, 4}, {3, 4}}, [](Tp t, V v) { return add_rows(t, v[0], v[1]); }},
      {"relu", {{3, 4}}, [](Tp t, V v) { return relu(t, v[0]); }},
      {"gelu", {{3, 4}}, [](Tp t, V v) { return gelu(t, v[0]); }},
      {"layer_norm", {{4, 6}, {6}, {6}}, [](Tp t, V v) { return layer_norm(t, v[0], v[1], v[2]); }},
      {"softmax", {{3, 11}}, [](Tp t, V v) { return softmax(t, v[0]); }},
      {"dropout",
       {{3, 4}},
       [](Tp t, V v) {
         Random random(5, 1);
         return dropout(t, v[0], 0.3, random);
       }},
      {"mean_pool", {{6, 4}}, [](Tp t, V v) { return mean_pool(t, v[0], 3); }},
      {"squared_error",
       {{3, 4}},
       [](Tp t, V v) {
         Random random(6, 1);
         return squared_error(t, v[0], random_tensor({3, 4}, random));
       }},
      {"cross_entropy", {{4, 5}}, [](Tp t, V v) { return cross_entropy(t, v[0], kIds); }},
      {"relative_attention",
       {{10, 6}, {10, 6}, {10, 6}, {5, 3}, {5, 3}},
       [](Tp t, V v) { return relative_attention(t, v[0], v[1], v[2], v[3], v[4], kChain, 2); }},
      {"a value used twice along a path",
       {{3, 3}},
       [](Tp t, V v) { return matmul(t, gelu(t, matmul(t, v[0], v[0])), v[0]); }},
  };
}

}  // namespace

TEST_CASE("every operation's gradient agrees with central differences") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    Random random(1, 0);
    Inputs inputs;
    for (const Shape& shape : c.shapes) inputs.push_back(random_tensor(shape, random));
    CHECK(gradient_error(c.build, inputs) < 1e-7);
  }
}

TEST_CASE("a gradient check fails for a wrong gradient") {
  const Build wrong = [](Tape<double>& t, const std::vector<Var>& v) {
    Tensor<double> out = t.value(v[0]);
    return t.record(std::move(out), true, [a = v[0]](Tape<double>& tape, Var self) {
      for (std::size_t i = 0; i < tape.value(a).size(); ++i) tape.gradient(a)[i] += 1.001 * tape.gradient(self)[i];
    });
  };
  Random random(1, 0);
  CHECK(gradient_error(wrong, {random_tensor({3}, random)}) > 5e-4);
}

TEST_CASE("values of operations, by hand") {
  Tape<double> tape;
  auto tensor = [](Shape shape, std::vector<double> values) {
    Tensor<double> t(std::move(shape));
    std::copy(values.begin(), values.end(), t.data());
    return t;
  };
  auto values = [&](Var v) {
    return std::vector<double>(tape.value(v).values().begin(), tape.value(v).values().end());
  };
  const Var x = tape.constant(tensor({2, 2}, {1, 2, 3, 4}));
  CHECK(values(matmul(tape, x, x)) == std::vector<double>{7, 10, 15, 22});
  CHECK(values(mean_pool(tape, x, 2)) == std::vector<double>{2, 3});
  CHECK(values(relu(tape, tape.constant(tensor({3}, {-1, 0, 2})))) == std::vector<double>{0, 0, 2});
  // Two rows with errors (0, 1) and (2, 0): (1 + 4) / 2.
  CHECK(values(squared_error(tape, x, tensor({2, 2}, {1, 1, 1, 4})))[0] == doctest::Approx(2.5));
  CHECK(values(gelu(tape, tape.constant(tensor({1}, {1}))))[0] == doctest::Approx(0.841192).epsilon(1e-6));
  const Var p = softmax(tape, tape.constant(tensor({1, 3}, {0, std::log(2.0), std::log(5.0)})));
  CHECK(values(p)[2] == doctest::Approx(0.625).epsilon(1e-14));
  // Uniform logits over three classes.
  const std::vector<std::int32_t> classes{1};
  CHECK(values(cross_entropy(tape, tape.constant(tensor({1, 3}, {4, 4, 4})), classes))[0] ==
        doctest::Approx(std::log(3.0)));
}

TEST_CASE("relative attention is plain attention with zero tables, and its tables reach only their buckets") {
  Random random(3, 0);
  const RelativePositions positions = chain_positions(4, 1);
  CHECK(positions.bucket == std::vector<std::uint16_t>{1, 2, 2, 2, 0, 1, 2, 2, 0, 0, 1, 2, 0, 0, 0, 1});
  Tape<double> tape;
  const Var q = tape.constant(random_tensor({4, 3}, random)), k = tape.constant(random_tensor({4, 3}, random));
  const Var v = tape.constant(random_tensor({4, 3}, random));
  const Var zero = tape.constant(Tensor<double>({3, 3}));
  const Tensor<double> out = tape.value(relative_attention(tape, q, k, v, zero, zero, positions, 1));
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> weight(4);
    double total = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      double dot = 0;
      for (std::size_t c = 0; c < 3; ++c) dot += tape.value(q).at(i, c) * tape.value(k).at(j, c);
      total += weight[j] = std::exp(dot / std::sqrt(3.0));
    }
    for (std::size_t c = 0; c < 3; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < 4; ++j) expected += weight[j] / total * tape.value(v).at(j, c);
      CHECK(out.at(i, c) == doctest::Approx(expected).epsilon(1e-12));
    }
  }
  // Bucket 0 is "to the left": the first row has nothing there, the last row gets the whole weight of its three.
  Tensor<double> left({3, 3});
  for (std::size_t c = 0; c < 3; ++c) left.at(0, c) = 1;
  const Tensor<double> moved = tape.value(relative_attention(tape, q, k, v, zero, tape.constant(left), positions, 1));
  CHECK(moved.at(0, 0) == out.at(0, 0));
  CHECK(moved.at(3, 0) > out.at(3, 0) + 0.01);
}

TEST_CASE("positions along a graph are shortest paths, cut off") {
  // 0 - 1 - 2 - 3, and 4 alone.
  std::vector<std::uint8_t> contact(25, 0);
  for (std::size_t i = 0; i < 3; ++i) contact[i * 5 + i + 1] = contact[(i + 1) * 5 + i] = 1;
  const RelativePositions near = graph_positions(contact, 5, 2), far = graph_positions(contact, 5, 4);
  CHECK(near.buckets == 3);
  CHECK(std::vector<std::uint16_t>(near.bucket.begin(), near.bucket.begin() + 5) ==
        std::vector<std::uint16_t>{0, 1, 2, 2, 2});
  CHECK(std::vector<std::uint16_t>(far.bucket.begin(), far.bucket.begin() + 5) ==
        std::vector<std::uint16_t>{0, 1, 2, 3, 4});
}

TEST_CASE("dropout keeps the mean, drops about p, and draws the same for the same counter") {
  Tape<float> tape;
  const Var ones = tape.constant(Tensor<float>({100, 100}, 1.0f));
  Random random(11, 2, 3, 4), again(11, 2, 3, 4), other(11, 2, 3, 5);
  const Tensor<float> a = tape.value(dropout(tape, ones, 0.25, random));
  CHECK(a == tape.value(dropout(tape, ones, 0.25, again)));
  CHECK_FALSE(a == tape.value(dropout(tape, ones, 0.25, other)));
  const auto dropped = std::count(a.values().begin(), a.values().end(), 0.0f);
  CHECK(dropped > 2300);
  CHECK(dropped < 2700);
  CHECK(tape.value(dropout(tape, ones, 0.0, random)) == tape.value(ones));
}

TEST_CASE("what does not fit is an error that shows the shapes") {
  Tape<double> tape;
  const Var a = tape.constant(Tensor<double>({2, 3})), b = tape.constant(Tensor<double>({2, 4}));
  CHECK_THROWS_WITH_AS(matmul(tape, a, b), "matmul: shapes [2, 3] and [2, 4] do not fit", Error);
  CHECK_THROWS_AS(add(tape, a, b), Error);
  CHECK_THROWS_AS(mean_pool(tape, a, 4), Error);
  CHECK_THROWS_AS(tape.backward(a), Error);
  const std::vector<std::int32_t> beyond{2};
  CHECK_THROWS_WITH_AS(embedding(tape, a, beyond), "embedding: no row 2 among 2", Error);
}

TEST_CASE("a tape that is reset gives the same values and gradients from recycled memory") {
  Random random(4, 0);
  const Tensor<float> w = [&] {
    Tensor<float> t({6, 6});
    for (float& x : t.values()) x = static_cast<float>(random.normal());
    return t;
  }();
  Tape<float> tape;
  Tensor<float> first({6, 6}), second({6, 6});
  for (Tensor<float>* gradient : {&first, &second}) {
    const Var p = tape.parameter(w, *gradient);
    tape.backward(sum(tape, softmax(tape, gelu(tape, matmul(tape, p, p)))));
    tape.reset();
  }
  CHECK(first == second);
}

}  // namespace godwit::ml
