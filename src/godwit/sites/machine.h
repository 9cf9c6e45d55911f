// What this machine has for jobs.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace godwit::sites
