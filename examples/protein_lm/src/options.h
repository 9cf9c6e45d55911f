// The program's subcommands and their options; each has a file of its own.
#pragma once

#include <cstdint>
#include <string>

#include "data.h"

namespace protein_lm {

inline constexpr int kSuccess = 0, kFailed = 1, kBadInput = 2;
// "I am not done: my checkpoint says how to go on" (what HTCondor jobs say with checkpoint_exit_code = 85).
inline constexpr int kCheckpointed = 85;

// The instruction set that this program was built for.
inline constexpr const char* kBuild = PROTEIN_LM_ISA;

struct SimulateOptions {
  std::size_t variants = 4000;
  std::uint64_t seed = 1;
  std::string out = "energies.tsv";
  std::string measurements;  // where generated measurements go; "": nowhere
};
int simulate_command(const SimulateOptions& options);

struct PretrainOptions {
  std::string data;  // "": simulated anew, as `simulate` does by default
  std::uint64_t seed = 1;
  double learning_rate = 4e-3;
  double weight_decay = 0.01;
  double warmup = 0.05;  // share of all steps
  double dropout = 0;
  std::string schedule = "cosine";
  std::size_t batch = 16;
  std::uint32_t epochs = 6;       // of the whole run
  std::uint32_t first_epoch = 1;  // of this job
  std::uint32_t last_epoch = 0;   // of this job; 0: epochs
  std::size_t width = 32, layers = 1;
  std::string checkpoint = "checkpoint.safetensors";
  std::string best = "best.safetensors";
  std::string metrics = "metrics.jsonl";
  std::string run;
};
int pretrain_command(const PretrainOptions& options);

struct EvaluateOptions {
  std::string checkpoint = "checkpoint.safetensors";
  std::string dms;  // "": generated measurements
  std::string metrics;
  std::size_t measurements = 100;
  std::size_t held_out = 1000;
  std::size_t splits = 1;
  std::uint64_t seed = 1;
};
int evaluate_command(const EvaluateOptions& options);

int golden_command(const std::string& checkpoint);

}  // namespace protein_lm
