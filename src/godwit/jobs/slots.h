// A local site's slots: what it has for jobs and what of it is taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "godwit/jobs/wire.h"

namespace godwit::jobs {

// The machine's GPUs, shared by all sites: a job gets those with the fewest users, so that two sites that each have
// one GPU use different ones where the machine has two.
class GpuPool {
 public:
  // Grows to at least `count` devices.
  void provide(std::uint32_t count);
  // `count` device numbers, ascending.
  std::vector<std::uint32_t> take(std::uint32_t count);
  void give_back(const std::vector<std::uint32_t>& devices);

 private:
  std::vector<std::uint32_t> users_;  // per device
};

class SiteSlots {
 public:
  explicit SiteSlots(wire::Slots offer) : offer_(std::move(offer)) {}

  // New limits; what is taken stays taken.
  void offer(wire::Slots offer) { offer_ = std::move(offer); }
  // "" or why the job could not even run alone: "asks 4 CPUs; site 'delta' has 2".
  std::string refusal(const wire::Launch& job) const;
  bool fits(const wire::Launch& job) const;
  // Nothing more fits, whatever it asks.
  bool full() const;
  void take(const wire::Launch& job);
  void give_back(const wire::Launch& job);

 private:
  wire::Slots offer_;
  std::uint64_t jobs_ = 0, cpus_ = 0, gpus_ = 0, memory_mb_ = 0;  // taken
};

}  // namespace godwit::jobs
