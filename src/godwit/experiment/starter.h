// The experiment that `godwit init` writes: small, commented, and running as it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace godwit::experiment {

struct StarterFile {
  std::string_view name;
  std::string_view text;
  bool executable = false;
};

std::span<const StarterFile> starter_files();

// Writes them into the folder, which is made where missing. Throws InputError, and writes nothing, where one of them is
// there already; SystemError where one cannot be written. Returns the names.
std::vector<std::string> write_starter(const std::string& folder);

}  // namespace godwit::experiment
