// Where jobs run: the catalogue that sites.yaml (or the older resources.yaml) describes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"

namespace godwit::sites {

// What {resource.…} braces take where neither the site nor the experiment's `resource_defaults` says.
inline constexpr std::uint32_t kDefaultCpus = 1;
inline constexpr std::uint64_t kDefaultMemoryMb = 4096;
inline constexpr std::uint64_t kDefaultDiskKb = 10u << 20;  // 10 GB
// gpus and gpu_memory: 0. The other fields have no default: a brace that needs one is an error.

struct Site {
  std::string name;
  Position position;               // where it is described; empty for the built-in site
  std::string executor = "local";  // local | slurm | htcondor | annex
  // What one job gets at this site: fills {resource.…} braces. 0 means "not said": the documented defaults apply.
  std::uint32_t cpus = 0;
  std::uint64_t mem_mb = 0;
  std::uint64_t disk_kb = 0;
  std::uint32_t gpus = 0;
  std::string gpu_type;
  std::uint64_t gpu_memory_mb = 0;
  // How many such jobs fit at once; 0: unlimited (a batch scheduler decides), or for `local` as many as the
  // machine holds.
  std::uint32_t slots = 0;
  std::optional<std::int64_t> lifetime_s;
  std::string queue, allocation, login_name, login_node;
  bool two_factor_auth = false;
  std::vector<std::string> labels;
  std::vector<std::string> setup;  // shell lines before each job
  double speed = 1;                // relative to 1
  double power_w = 0;              // while a slot is busy
  // The user's own: {resource.<name>}.
  std::vector<std::pair<std::string, std::string>> attributes;

  // Whether this version can run jobs there.
  bool runnable() const { return executor == "local"; }
};

struct Catalogue {
  std::string file;  // where it was read; empty: built in
  std::vector<Site> sites;
  const Site* find(std::string_view name) const;
};

// Reads sites.yaml, or the older resources.yaml: a mapping from name to fields (or a list of fields with `name`),
// at top level or under `sites:`. A site without `executor` that has an allocation, a login node or two-factor
// log-in is an "annex", else "local". Throws InputError with every fault, SystemError where the file cannot be
// read.
Catalogue load(const std::string& path);
// The same for sites inside another file; faults go to `diagnostics`.
Catalogue read(const yaml::Node& node, const std::string& file, Diagnostics& diagnostics);
// The one site there is without a file: this machine, named `name`; offer_of() (machine.h) sizes it.
Catalogue built_in(const std::string& name);

// The value of {resource.<field>} at the site as text: "4", "64000" (mem_mb, gpu_memory), "40GB" (disk), seconds
// (lifetime). nullopt where the site does not say; the defaults above are the caller's.
std::optional<std::string> resource_text(const Site& site, std::string_view field);
// Every field that a brace may name, attributes not included.
const std::vector<std::string>& resource_fields();

}  // namespace godwit::sites
