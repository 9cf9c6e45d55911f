// The folders that an experiment's jobs write into. Godwit makes them as it runs; HTCondor makes none.
#pragma once

#include <cstdint>
#include <filesystem>

#include "godwit/experiment/plan.h"

namespace godwit::experiment {

// Writes their names to `file`, one a line, relative to the experiment's folder: of each run its logs, metrics and
// checkpoints, where the experiment leaves them where Godwit puts them. Returns how many. Throws SystemError.
std::uint64_t write_folders(const Planned& planned, const std::filesystem::path& file);

}  // namespace godwit::experiment
