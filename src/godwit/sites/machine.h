// What this machine has for jobs.
#pragma once

#include <cstdint>
#include <string>

#include "godwit/sites/site.h"

namespace godwit::sites {

// The least of what the hardware has and what this process may use of it (affinity mask, control groups v1 and
// v2).
struct Machine {
  std::uint32_t cpus = 1;
  std::uint64_t memory_mb = 0;
  std::uint32_t gpus = 0;  // NVIDIA device nodes
};

// `root` is where /proc, /sys and /dev are looked up: tests put a folder there.
Machine this_machine(const std::string& root = "");

// What a local site has for its jobs together. Several sites of one machine may promise more than it has.
struct Offer {
  std::uint32_t slots = 0;  // jobs at once
  std::uint32_t cpus = 0;
  std::uint32_t gpus = 0;
  std::uint64_t memory_mb = 0;
};

// `slots` times what a job gets where the site says so; the machine's where it does not. Without `slots`, as many jobs
// as the machine holds.
Offer offer_of(const Site& site, const Machine& machine);

}  // namespace godwit::sites
