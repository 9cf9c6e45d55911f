// Reading whole files.
#pragma once

#include <cstddef>
#include <string>

namespace godwit {

// The bytes of a file. Throws SystemError where it cannot be read (a directory cannot), InputError where it is
// larger than `most_bytes`.
std::string read_file(const std::string& path, std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace godwit
