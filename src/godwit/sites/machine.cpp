#include "godwit/sites/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "godwit/base/text.h"

namespace godwit::sites {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

// nullopt for "max" and whatever else is not a number.
std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<double> number_in(const std::string& path) {
  const auto line = first_line(path);
  return line ? number(trim(*line)) : std::nullopt;
}

std::uint64_t total_memory_mb(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("MemTotal:"))
      if (const auto kilobytes = number(trim(std::string_view(line).substr(9))))
        return static_cast<std::uint64_t>(*kilobytes) / 1024;
  return 0;
}

std::uint32_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::uint32_t>(CPU_COUNT(&set));
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// The folders of this process's control group and all that hold it, for a controller of version 1, or "" for
// version 2. Inside a container the path may not exist below /sys: then the mount's own root is what there is.
std::vector<std::string> group_folders(const std::string& root, const std::string& controller) {
  const std::string base = root + "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + controller);
  std::vector<std::string> folders{base};
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string_view> parts = split(line, ':');  // id:controllers:path
    if (parts.size() < 3) continue;
    const std::vector<std::string_view> controllers = split(parts[1], ',');
    if (std::find(controllers.begin(), controllers.end(), controller) == controllers.end()) continue;
    std::string path = base;
    for (const std::string_view part : split(parts[2], '/')) {
      if (part.empty()) continue;
      path += "/" + std::string(part);
      folders.push_back(path);
    }
  }
  return folders;
}

double least_group_memory_bytes(const std::string& root) {
  double least = INFINITY;
  for (const auto& [controller, file] : {std::pair{"", "memory.max"}, {"memory", "memory.limit_in_bytes"}})
    for (const std::string& folder : group_folders(root, controller))
      if (const auto bytes = number_in(folder + "/" + file)) least = std::min(least, *bytes);
  return least;
}

double least_group_cpus(const std::string& root) {
  double least = INFINITY;
  for (const std::string& folder : group_folders(root, "")) {
    const auto line = first_line(folder + "/cpu.max");  // "quota period", quota may be "max"
    const std::vector<std::string_view> words = line ? split_words(*line) : std::vector<std::string_view>{};
    if (words.size() != 2) continue;
    const auto quota = number(words[0]);
    const auto period = number(words[1]);
    if (quota && period && *period > 0) least = std::min(least, *quota / *period);
  }
  for (const std::string& folder : group_folders(root, "cpu")) {
    const auto quota = number_in(folder + "/cpu.cfs_quota_us");  // -1: none
    const auto period = number_in(folder + "/cpu.cfs_period_us");
    if (quota && period && *quota > 0 && *period > 0) least = std::min(least, *quota / *period);
  }
  return least;
}

// /dev/nvidia0, /dev/nvidia1 …
std::uint32_t count_gpus(const std::string& root) {
  std::uint32_t count = 0;
  std::error_code none;
  while (std::filesystem::exists(root + "/dev/nvidia" + std::to_string(count), none)) ++count;
  return count;
}

}  // namespace

Machine this_machine(const std::string& root) {
  Machine machine;
  const double cpus = std::min<double>(usable_cpus(), std::ceil(least_group_cpus(root)));
  machine.cpus = std::max(1u, static_cast<std::uint32_t>(cpus));
  const double memory =
      std::min(static_cast<double>(total_memory_mb(root)), least_group_memory_bytes(root) / (1 << 20));
  machine.memory_mb = static_cast<std::uint64_t>(memory);
  machine.gpus = count_gpus(root);
  return machine;
}

Offer offer_of(const Site& site, const Machine& machine) {
  const std::uint32_t cpus = std::max(site.cpus, kDefaultCpus);
  Offer offer{site.slots, machine.cpus, machine.gpus, machine.memory_mb};
  if (site.slots == 0) {
    offer.slots = std::max(1u, machine.cpus / cpus);
    if (site.mem_mb != 0) {
      const std::uint64_t by_memory = std::max<std::uint64_t>(1, machine.memory_mb / site.mem_mb);
      offer.slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(offer.slots, by_memory));
    }
    return offer;
  }
  offer.cpus = site.cpus != 0 ? site.slots * site.cpus : std::max(site.slots * cpus, machine.cpus);
  if (site.mem_mb != 0) offer.memory_mb = site.slots * site.mem_mb;
  if (site.gpus != 0) offer.gpus = site.slots * site.gpus;
  return offer;
}

}  // namespace godwit::sites
