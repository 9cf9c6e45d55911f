#include "godwit/jobs/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace godwit::jobs {

void GpuPool::provide(std::uint32_t count) {
  if (users_.size() < count) users_.resize(count, 0);
}

std::vector<std::uint32_t> GpuPool::take(std::uint32_t count) {
  std::vector<std::uint32_t> devices(users_.size());
  std::iota(devices.begin(), devices.end(), 0u);
  std::stable_sort(devices.begin(), devices.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return users_[a] < users_[b]; });
  devices.resize(std::min<std::size_t>(count, devices.size()));
  std::sort(devices.begin(), devices.end());
  for (const std::uint32_t device : devices) ++users_[device];
  return devices;
}

void GpuPool::give_back(const std::vector<std::uint32_t>& devices) {
  for (const std::uint32_t device : devices) --users_[device];
}

std::string SiteSlots::refusal(const wire::Launch& job) const {
  const auto sentence = [&](std::uint64_t asked, const char* what, std::uint64_t has) {
    return fmt::format("asks {} {}; site '{}' has {}", asked, what, offer_.site, has);
  };
  if (offer_.cpus != 0 && job.cpus > offer_.cpus) return sentence(job.cpus, "CPUs", offer_.cpus);
  if (offer_.memory_mb != 0 && job.memory_mb > offer_.memory_mb)
    return sentence(job.memory_mb, "MB of memory", offer_.memory_mb);
  if (job.gpus > offer_.gpus) return sentence(job.gpus, "GPUs", offer_.gpus);
  return {};
}

bool SiteSlots::fits(const wire::Launch& job) const {
  return !full() && (offer_.cpus == 0 || cpus_ + job.cpus <= offer_.cpus) &&
         (offer_.memory_mb == 0 || memory_mb_ + job.memory_mb <= offer_.memory_mb) &&
         (job.gpus == 0 || gpus_ + job.gpus <= offer_.gpus);
}

bool SiteSlots::full() const {
  return (offer_.slots != 0 && jobs_ >= offer_.slots) || (offer_.cpus != 0 && cpus_ >= offer_.cpus);
}

void SiteSlots::take(const wire::Launch& job) {
  ++jobs_;
  cpus_ += job.cpus;
  gpus_ += job.gpus;
  memory_mb_ += job.memory_mb;
}

void SiteSlots::give_back(const wire::Launch& job) {
  --jobs_;
  cpus_ -= job.cpus;
  gpus_ -= job.gpus;
  memory_mb_ -= job.memory_mb;
}

}  // namespace godwit::jobs
