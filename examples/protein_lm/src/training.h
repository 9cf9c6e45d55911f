// What pretraining and finetuning share: batches, targets, predictions, learning steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data.h"
#include "godwit/ml/optimizer.h"
#include "model.h"

namespace protein_lm {

// Targets brought to mean 0 and variance 1, column by column, by what the training part shows.
struct Standardization {
  std::vector<double> mean, deviation;

  static Standardization of(const ml::Tensor<double>& values, std::span<const std::uint32_t> rows);
  // The chosen rows.
  ml::Tensor<float> apply(const ml::Tensor<double>& values, std::span<const std::uint32_t> rows) const;
};

// [variants, terms], [variants, 1]
ml::Tensor<double> targets_of(const Simulated& data);
ml::Tensor<double> targets_of(const Measured& data);

// Variants and their targets, ready to learn from. What it refers to must outlive it.
struct Task {
  const Domain& domain;
  const std::vector<Variant>& variants;
  ml::Tensor<double> targets;
  Standardization scale;
};

// One step on one batch; returns the loss before it. Throws godwit::Error where the loss is no finite number.
struct StepResult {
  double loss = 0;
  double gradient_norm = 0;  // before clipping
};
StepResult learn(Model<float>& model, ml::AdamW<float>& optimizer, ml::Tape<float>& tape, const Task& task,
                 std::span<const std::uint32_t> batch, double learning_rate, ml::Random& random);

// Standardized predictions for the chosen variants, [chosen, outputs], and the features they were made from.
struct Predictions {
  ml::Tensor<double> outputs, features;
};
Predictions predict(Model<float>& model, const Domain& domain, const std::vector<Variant>& variants,
                    std::span<const std::uint32_t> chosen);

// Mean over the chosen of the squared error summed over the outputs.
double mean_loss(const Predictions& predictions, const ml::Tensor<float>& targets);

std::vector<double> column(const ml::Tensor<double>& values, std::size_t c);

}  // namespace protein_lm
