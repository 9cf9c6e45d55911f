// The files that jobs run and read, as they are at one time: what an experiment is besides its definition.
#pragma once

#include <set>
#include <string>

#include "godwit/base/json.h"

namespace godwit::experiment {

// One object per file or folder, in the order of their paths: "file" (relative to `directory` where it is below it),
// "bytes", "digest" (XXH3 of the content; of large ones, of size and time of change). What cannot be read is left out.
Json code_of(const std::set<std::string>& paths, const std::string& directory);

}  // namespace godwit::experiment
