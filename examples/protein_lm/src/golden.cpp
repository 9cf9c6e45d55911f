// A numerical fingerprint: what this build, on this machine, makes of a fixed batch. Sites that print the same lines
// compute the same; where lines differ, the digits say by how much.
#include <fmt/format.h>

#include <numeric>

#include "checkpoint.h"
#include "godwit/base/error.h"
#include "options.h"
#include "training.h"

namespace protein_lm {

int golden_command(const std::string& checkpoint) {
  const Domain& domain = grb2_sh3();
  const Simulated data = simulate(domain, 64, 20250605);
  std::vector<std::uint32_t> all(data.variants.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  Task task{domain, data.variants, targets_of(data), {}};
  task.scale = Standardization::of(task.targets, all);

  ModelConfig config;
  config.outputs = kEnergyTerms.size();
  if (!checkpoint.empty()) {
    const std::optional<Loaded> found = inspect(checkpoint);
    if (!found) throw godwit::InputError(checkpoint + ": there is no such checkpoint");
    config = found->config;
  }
  Model<float> model(domain, config, 1);
  if (!checkpoint.empty()) restore(checkpoint, model, nullptr);
  ml::AdamW<float> optimizer(model.parameters(), {});
  ml::Tape<float> tape;
  ml::Random random(1, kDropout);
  const StepResult first = learn(model, optimizer, tape, task, all, 1e-3, random);
  const StepResult second = learn(model, optimizer, tape, task, all, 1e-3, random);
  std::string weights;
  for (const ml::Parameter<float>& p : model.parameters().all())
    weights.append(reinterpret_cast<const char*>(p.value.data()), p.value.size() * sizeof(float));
  fmt::print("build          {}\n", kBuild);
  fmt::print("data           {}\n", hash_of(simulated_text(data, domain)));
  fmt::print("loss           {:a}  {:.9g}\n", first.loss, first.loss);
  fmt::print("gradient norm  {:a}  {:.9g}\n", first.gradient_norm, first.gradient_norm);
  fmt::print("next loss      {:a}  {:.9g}\n", second.loss, second.loss);
  fmt::print("weights        {}\n", hash_of(weights));
  return kSuccess;
}

}  // namespace protein_lm
