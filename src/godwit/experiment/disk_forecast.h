// How much disk an experiment's checkpoints will take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "godwit/base/json.h"
#include "godwit/experiment/plan.h"

namespace godwit::experiment {

struct DiskForecast {
  std::uint64_t checkpoints = 0;            // the most that are there at the same time, of all runs
  std::uint64_t written = 0;                // over the whole experiment
  std::optional<std::uint64_t> size_bytes;  // of one
  bool measured = false;                    // the size is of one that was there; else it was declared
  std::optional<std::uint64_t> bytes() const;
};

// `measured_bytes`: the largest checkpoint that has been seen, if any; it counts before the declared size.
DiskForecast forecast_disk(const Planned& planned, std::optional<std::uint64_t> measured_bytes);

// "at most 24 checkpoints of 200 MB (measured): 4.7 GB"; and what to do where the size is unknown.
std::string text_of(const DiskForecast& forecast);
Json to_json(const DiskForecast& forecast);

}  // namespace godwit::experiment
