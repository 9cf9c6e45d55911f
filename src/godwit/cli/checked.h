// Checks of options' values that say what to write instead.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace godwit::cli {

// A whole number from `least` on, in decimal digits.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
// A number of the closed range.
CLI::Validator number_between(double least, double most);
// Not "", as a shell makes of a variable that is not set.
CLI::Validator not_empty();
// One of the words; suggests the one that was probably meant.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace godwit::cli
