#include "training.h"

#include <algorithm>
#include <cmath>

#include "godwit/base/error.h"

namespace protein_lm {

namespace {
constexpr double kGradientLimit = 1;
constexpr std::size_t kPredictBatch = 64;
}  // namespace

Standardization Standardization::of(const ml::Tensor<double>& values, std::span<const std::uint32_t> rows) {
  Standardization s{std::vector<double>(values.cols()), std::vector<double>(values.cols())};
  const auto n = static_cast<double>(rows.size());
  for (std::size_t c = 0; c < values.cols(); ++c) {
    double sum = 0, squares = 0;
    for (std::uint32_t r : rows) sum += values.at(r, c);
    s.mean[c] = sum / n;
    for (std::uint32_t r : rows) squares += (values.at(r, c) - s.mean[c]) * (values.at(r, c) - s.mean[c]);
    s.deviation[c] = squares > 0 ? std::sqrt(squares / n) : 1;
  }
  return s;
}

ml::Tensor<float> Standardization::apply(const ml::Tensor<double>& values, std::span<const std::uint32_t> rows) const {
  ml::Tensor<float> out({rows.size(), values.cols()});
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < values.cols(); ++c)
      out.at(r, c) = static_cast<float>((values.at(rows[r], c) - mean[c]) / deviation[c]);
  return out;
}

ml::Tensor<double> targets_of(const Simulated& data) {
  ml::Tensor<double> targets({data.variants.size(), kEnergyTerms.size()});
  for (std::size_t i = 0; i < data.variants.size(); ++i)
    std::copy(data.energies[i].begin(), data.energies[i].end(), targets.row(i));
  return targets;
}

ml::Tensor<double> targets_of(const Measured& data) {
  ml::Tensor<double> targets({data.variants.size(), 1});
  std::copy(data.scores.begin(), data.scores.end(), targets.data());
  return targets;
}

StepResult learn(Model<float>& model, ml::AdamW<float>& optimizer, ml::Tape<float>& tape, const Task& task,
                 std::span<const std::uint32_t> batch, double learning_rate, ml::Random& random) {
  const std::vector<std::int32_t> tokens = tokens_of(task.variants, batch, task.domain);
  const ml::Tensor<float> targets = task.scale.apply(task.targets, batch);
  const ml::Var prediction = model.predict(tape, model.features(tape, tokens, &random), &random);
  const ml::Var loss = ml::squared_error(tape, prediction, targets);
  StepResult result{tape.value(loss)[0], 0};
  if (!std::isfinite(result.loss))
    throw godwit::Error("the loss is no longer a finite number; a lower learning rate may help");
  model.parameters().clear_gradients();
  tape.backward(loss);
  tape.reset();
  result.gradient_norm = model.parameters().clip_gradients(kGradientLimit);
  optimizer.step(learning_rate);
  return result;
}

Predictions predict(Model<float>& model, const Domain& domain, const std::vector<Variant>& variants,
                    std::span<const std::uint32_t> chosen) {
  Predictions all{ml::Tensor<double>({chosen.size(), model.config().outputs}),
                  ml::Tensor<double>({chosen.size(), model.config().features})};
  ml::Tape<float> tape;
  for (std::size_t at = 0; at < chosen.size(); at += kPredictBatch) {
    const auto part = chosen.subspan(at, std::min(kPredictBatch, chosen.size() - at));
    const std::vector<std::int32_t> tokens = tokens_of(variants, part, domain);
    const ml::Var features = model.features(tape, tokens, nullptr);
    const ml::Var outputs = model.predict(tape, features, nullptr);
    std::copy_n(tape.value(features).data(), tape.value(features).size(), all.features.row(at));
    std::copy_n(tape.value(outputs).data(), tape.value(outputs).size(), all.outputs.row(at));
    tape.reset();
  }
  return all;
}

double mean_loss(const Predictions& predictions, const ml::Tensor<float>& targets) {
  double total = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double error = predictions.outputs[i] - static_cast<double>(targets[i]);
    total += error * error;
  }
  return total / static_cast<double>(targets.rows());
}

std::vector<double> column(const ml::Tensor<double>& values, std::size_t c) {
  std::vector<double> out;
  for (std::size_t r = 0; r < values.rows(); ++r) out.push_back(values.at(r, c));
  return out;
}

}  // namespace protein_lm
