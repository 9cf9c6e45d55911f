// How large an experiment's checkpoints are, by those that there are.
#pragma once

#include <cstdint>
#include <optional>

#include "godwit/cli/living.h"

namespace godwit::cli {

// Of those that were recorded, else of some that are on disk; nothing where there is none.
std::optional<std::uint64_t> largest_checkpoint(const Living& living);

}  // namespace godwit::cli
