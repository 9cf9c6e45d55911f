// Experiments written by hand or by formula, for the tests of this module.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "godwit/report/experiment.h"

namespace godwit::report::fixture {

struct RunSpec {
  std::uint32_t number = 0;
  bool baseline = false;
  std::string pair;
  std::uint32_t seed = 0;
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<double> val_loss;    // of epochs 1, 2, …
  std::vector<std::string> sites;  // one a job; jobs share the epochs evenly
  State state = State::finished;
};

inline Run make_run(const RunSpec& spec) {
  Run run;
  run.number = spec.number;
  run.uuid = "0000000" + std::to_string(spec.number % 10);
  run.seed = spec.seed;
  run.baseline = spec.baseline;
  run.pair = spec.pair;
  run.values = spec.values;
  run.epochs = static_cast<int>(spec.val_loss.size());
  run.state = spec.state;
  Series series{"val_loss", false, {}};
  for (int epoch = 1; epoch <= run.epochs; ++epoch) series.points.push_back({epoch, spec.val_loss[epoch - 1]});
  run.series.push_back(series);
  const int jobs = static_cast<int>(spec.sites.size());
  for (int job = 0; job < jobs; ++job) {
    const int first = 1 + job * run.epochs / jobs;
    const int last = (job + 1) * run.epochs / jobs;
    run.jobs.push_back({"run" + std::to_string(run.number) + "-train_epoch" + std::to_string(job),
                        spec.sites[static_cast<std::size_t>(job)], first, last, spec.state, 1, 0, 10.0});
    for (int epoch = first; epoch <= last; ++epoch)
      run.epoch_times.push_back({spec.sites[static_cast<std::size_t>(job)], epoch, 2.0 + job});
  }
  return run;
}

// A number in [-1, 1) that looks random: the same for the same arguments everywhere.
inline double noise(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15U + b * 0xBF58476D1CE4E5B9U + 0x94D049BB133111EBU;
  for (int round = 0; round < 3; ++round) x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9U;
  return static_cast<double>(x >> 11) / 4503599627370496.0 - 1;
}

// `pairs` migrated runs, each job at another of four sites, and as many baseline runs: losses that fall from 12
// towards 1.5 with a little noise, epoch times that differ between sites.
inline Experiment synthetic(std::uint32_t pairs, int epochs = 30, int epochs_per_job = 5) {
  const std::vector<std::string> sites = {"delta", "expanse", "anvil", "bridges2"};
  Experiment experiment{"Global Pretraining", "0123456789abcdef0123456789abcdef", "experiment.yaml", {}, {}};
  for (const bool baseline : {false, true})
    for (std::uint32_t p = 0; p < pairs; ++p) {
      Run run;
      run.number = p + (baseline ? pairs : 0);
      run.uuid = std::to_string(10000000 + run.number * 7919);
      run.seed = 1000 + p;
      run.baseline = baseline;
      run.pair = "pair" + std::to_string(p);
      run.values = {{"alpha", p % 2 == 0 ? "0.001" : "0.002"}, {"layers", "3"}};
      run.epochs = epochs;
      run.state = State::finished;
      run.series = {{"train_loss", false, {}}, {"val_loss", false, {}}, {"spearman", true, {}}};
      for (int epoch = 1; epoch <= epochs; ++epoch) {
        const double trend = 1.5 + 10.5 * std::exp(-epoch / 6.0) + 0.12 * noise(p, 1) * (p % 2 + 1);
        const double val = trend + 0.05 * noise(run.number, static_cast<std::uint64_t>(epoch)) + (baseline ? 0 : 0.01);
        run.series[0].points.push_back({epoch, trend * 0.93});
        run.series[1].points.push_back({epoch, val});
        if (epoch % epochs_per_job == 0) run.series[2].points.push_back({epoch, 1 - val / 14});
      }
      for (int job = 0; job * epochs_per_job < epochs; ++job) {
        const std::size_t at = baseline ? 0 : (p + static_cast<std::size_t>(job) * (1 + 2 * (p % 2))) % sites.size();
        const int first = job * epochs_per_job + 1;
        const int last = std::min(epochs, first + epochs_per_job - 1);
        const std::uint32_t retries = p == 1 && job == 2 ? 1 : 0;
        run.jobs.push_back({"run" + std::to_string(run.number) + "-train_epoch" + std::to_string(job), sites[at], first,
                            last, State::finished, 1 + retries, retries, 60});
        for (int epoch = first; epoch <= last; ++epoch)
          run.epoch_times.push_back({sites[at], epoch,
                                     8.0 + 3.0 * static_cast<double>(at) +
                                         std::pow(noise(run.number + 500, static_cast<std::uint64_t>(epoch)), 2)});
      }
      experiment.runs.push_back(std::move(run));
    }
  return experiment;
}

}  // namespace godwit::report::fixture
