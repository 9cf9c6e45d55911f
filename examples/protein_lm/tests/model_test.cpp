#include "model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "checkpoint.h"
#include "godwit/base/error.h"
#include "godwit/store/atomic_file.h"
#include "training.h"

namespace protein_lm {
namespace {

ModelConfig small_config() {
  ModelConfig config;
  config.width = 8;
  config.heads = 2;
  config.layers = 2;
  config.inner = 12;
  config.features = 6;
  config.outputs = 3;
  config.dropout = 0.2;
  return config;
}

double loss_of(Model<double>& model, const std::vector<std::int32_t>& tokens, bool with_gradients) {
  ml::Tape<double> tape;
  ml::Random random(1, kDropout);  // the same draws each time
  ml::Tensor<double> targets({tokens.size() / grb2_sh3().length(), 3});
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = std::sin(static_cast<double>(i));
  const ml::Var loss =
      ml::squared_error(tape, model.predict(tape, model.features(tape, tokens, &random), &random), targets);
  if (with_gradients) tape.backward(loss);
  return tape.value(loss)[0];
}

std::vector<std::uint32_t> first(std::uint32_t n) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

TEST_CASE("the whole network's gradient agrees with central differences, in double") {
  const Domain& domain = grb2_sh3();
  Model<double> model(domain, small_config(), 3);
  const Simulated data = simulate(domain, 4, 1);
  const std::vector<std::int32_t> tokens = tokens_of(data.variants, first(4), domain);
  loss_of(model, tokens, true);
  double largest = 0, worst = 0;
  ml::Random pick(2, 0);
  for (ml::Parameter<double>& p : model.parameters().all()) {
    for (int trial = 0; trial < 3; ++trial) {
      double& x = p.value[pick.below(static_cast<std::uint32_t>(p.value.size()))];
      const std::size_t at = static_cast<std::size_t>(&x - p.value.data());
      const double kept = x, step = 1e-5;
      x = kept + step;
      const double above = loss_of(model, tokens, false);
      x = kept - step;
      const double below = loss_of(model, tokens, false);
      x = kept;
      worst = std::max(worst, std::abs((above - below) / (2 * step) - p.gradient[at]));
      largest = std::max(largest, std::abs(p.gradient[at]));
    }
  }
  CHECK(largest > 1e-3);
  CHECK(worst / largest < 1e-6);
}

TEST_CASE("a checkpoint gives back weights, moments and progress; what is none of ours is refused") {
  const Domain& domain = grb2_sh3();
  const std::string path = (std::filesystem::temp_directory_path() / "protein_lm_model_test.safetensors").string();
  Model<float> model(domain, small_config(), 3), other(domain, small_config(), 4);
  ml::AdamW<float> optimizer(model.parameters(), {}), restored(other.parameters(), {});
  const Simulated data = simulate(domain, 20, 1);
  ml::Tensor<double> targets({20, 3});
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = std::cos(static_cast<double>(i));
  Task task{domain, data.variants, targets, Standardization::of(targets, first(20))};
  ml::Tape<float> tape;
  ml::Random random(1, kDropout);
  learn(model, optimizer, tape, task, first(20), 1e-2, random);
  const Progress progress{2, 5, 1.0 / 3, 7.25, "xxh3:00", "{\"epoch\":2}"};
  godwit::store::write_file(path, checkpoint_bytes(model, optimizer, progress, "settings"));

  const std::optional<Loaded> loaded = inspect(path);
  REQUIRE(loaded);
  CHECK(loaded->config == small_config());
  CHECK(loaded->settings == "settings");
  CHECK(loaded->progress.steps_in_epoch == 5);
  CHECK(loaded->progress.loss_sum == 1.0 / 3);
  CHECK(loaded->progress.last_metrics == "{\"epoch\":2}");
  restore(path, other, &restored);
  CHECK(checkpoint_bytes(other, restored, progress, "settings") ==
        checkpoint_bytes(model, optimizer, progress, "settings"));

  ModelConfig wider = small_config();
  wider.inner = 16;
  Model<float> unlike(domain, wider, 1);
  CHECK_THROWS_AS(restore(path, unlike, nullptr), godwit::InputError);
  std::filesystem::remove(path);
  CHECK_FALSE(inspect(path));
}

TEST_CASE("a loss that is no number ends the training with an error") {
  const Domain& domain = grb2_sh3();
  Model<float> model(domain, small_config(), 3);
  model.parameters().find("embedding.weight")->value.fill(std::nanf(""));
  ml::AdamW<float> optimizer(model.parameters(), {});
  const Simulated data = simulate(domain, 4, 1);
  Task task{domain, data.variants, ml::Tensor<double>({4, 3}),
            Standardization::of(ml::Tensor<double>({4, 3}), first(4))};
  ml::Tape<float> tape;
  ml::Random random(1, kDropout);
  CHECK_THROWS_AS(learn(model, optimizer, tape, task, first(4), 1e-2, random), godwit::Error);
}

}  // namespace protein_lm
