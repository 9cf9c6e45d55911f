// Everything that training needs to go on, in one safetensors file: weights, the optimizer's moments, how far it is.
// Nothing else: two runs that computed the same have the same bytes, however often they were stopped.
#pragma once

#include <optional>
#include <string>

#include "godwit/ml/optimizer.h"
#include "model.h"

namespace protein_lm {

// How far a training run is. Random numbers need no state of their own: they follow from seed, epoch and step.
struct Progress {
  std::uint32_t epochs_done = 0;
  std::uint32_t steps_in_epoch = 0;  // of the epoch after those
  double loss_sum = 0;               // over those steps
  double best_loss = 0;              // the least validation loss, once an epoch is done
  std::string parent;                // hash of the checkpoint that the current epoch began with; "" at the first
  std::string last_metrics;          // of the last epoch done: its metrics line, as JSON, without times
};

struct Loaded {
  std::string hash;      // of the file's bytes: "xxh3:" and 32 digits
  std::string settings;  // what the run was started with, as JSON
  ModelConfig config;
  Progress progress;
};

std::string hash_of(std::string_view bytes);

std::string checkpoint_bytes(Model<float>& model, ml::AdamW<float>& optimizer, const Progress& progress,
                             const std::string& settings);

// The configuration and progress alone; nothing where there is no such file. Throws godwit::InputError where the file
// is none of ours or damaged.
std::optional<Loaded> inspect(const std::string& path);
// Puts the weights into `model`, and the moments into `optimizer` where it is given.
void restore(const std::string& path, Model<float>& model, ml::AdamW<float>* optimizer);

}  // namespace protein_lm
