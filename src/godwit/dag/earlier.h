// What an experiment came to when it was planned before, as its journal tells it. A planner that is given this keeps
// what has begun: runs their numbers, jobs their epochs and sites.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace godwit::dag {

// A training job that has begun.
struct EarlierJob {
  std::uint32_t first_epoch = 0, last_epoch = 0;
  std::string site;
  bool done = false;
};

struct EarlierRun {
  std::uint32_t number = 0;
  std::uint32_t seed = 0;
  bool baseline = false;
  std::vector<EarlierJob> begun;  // from the first on, in the order of their epochs, none left out
};

struct Earlier {
  std::unordered_map<std::string, EarlierRun> runs;  // by run_uuid; also of runs that are no longer wanted
  std::uint32_t next_number = 0;                     // above all numbers ever given

  const EarlierRun* find(const std::string& uuid) const {
    const auto found = runs.find(uuid);
    return found == runs.end() ? nullptr : &found->second;
  }
};

}  // namespace godwit::dag
