// Where jobs run: the catalogue that sites.yaml (or the older resources.yaml) describes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "godwit/base/error.h"

namespace godwit::sites {

struct Site {
  std::string name;
  Position position;                // where it is described; empty for the built-in site
  std::string executor = "local";   // local | slurm | htcondor | annex …
  // What one job gets at this site: fills {resource.…} braces. 0 means "not said": the documented defaults apply.
  std::uint32_t cpus = 0;
  std::uint64_t mem_mb = 0;
  std::uint64_t disk_kb = 0;
  std::uint32_t gpus = 0;
  std::string gpu_type;
  std::uint64_t gpu_memory_mb = 0;
  // How many such jobs fit at once; 0: unlimited (a batch scheduler decides), or for `local` as many as the machine holds.
  std::uint32_t slots = 0;
  std::optional<std::int64_t> lifetime_s;
  std::string queue, allocation, login_name, login_node;
  bool two_factor_auth = false;
  std::vector<std::string> labels;
  std::vector<std::string> setup;  // shell lines before each job
  double speed = 1;                // relative to 1
  double power_w = 0;              // while a slot is busy
};

struct Catalogue {
  std::string file;  // where it was read; empty: built in
  std::vector<Site> sites;
  const Site* find(std::string_view name) const;
};

// Reads sites.yaml or resources.yaml (a mapping from name to fields, at top level or under `sites:`).
Catalogue load(const std::string& path);
// The one site there is without a file: this machine, named `name`.
Catalogue built_in(const std::string& name);

}  // namespace godwit::sites
