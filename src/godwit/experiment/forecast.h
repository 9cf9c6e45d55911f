// What an experiment will take, by what its rehearsal took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/experiment/plan.h"

namespace godwit::experiment {

struct SiteForecast {
  std::string site;
  std::uint64_t epochs = 0;          // to train there
  std::uint64_t evaluations = 0;     // to do there
  std::optional<double> job_s;       // of all jobs together; nothing: not rehearsed, or the scale is not known
  std::optional<double> at_least_s;  // with all slots busy
  std::uint64_t peak_memory_kb = 0;  // the most that a job of the rehearsal took; 0: not known
  std::uint64_t asked_memory_mb = 0;
};

struct Forecast {
  std::string rehearsed;  // when, as the rehearsal says
  double scale = 1;
  bool scale_known = false;  // else times are of the rehearsal's epochs
  std::vector<SiteForecast> sites;
  std::optional<std::uint64_t> checkpoint_bytes;  // of all checkpoints together
};

// `rehearsal`: as report::to_json gives it. What it does not know is left out.
Forecast forecast(const Planned& planned, const Json& rehearsal);

Json to_json(const Forecast& forecast);

}  // namespace godwit::experiment
