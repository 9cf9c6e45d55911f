// HTCondor's two quotings of `arguments` and `environment` (manual, condor_submit): the old one, without surrounding
// double quotes, and the new one, with them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace godwit::submit {

// Old: split at white space, \" is a double quote. New ("…"): white space splits, '…' groups, '' inside is a single
// quote, "" is a double quote. Throws InputError (without position) at a fault, naming it.
std::vector<std::string> split_arguments(std::string_view value);
// The new quoting of an argument vector, with its surrounding double quotes.
std::string join_arguments(const std::vector<std::string>& arguments);

// Old: NAME=value;NAME=value. New ("…"): NAME=value separated by white space, quoted like arguments.
std::vector<std::pair<std::string, std::string>> split_environment(std::string_view value);
std::string join_environment(const std::vector<std::pair<std::string, std::string>>& environment);

// `value` with more variables, in whichever quoting it has; macros in it stay. Values with white space, quotes or ';'
// need the new quoting: throws InputError where `value` has the old one.
std::string add_to_environment(std::string_view value,
                               const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace godwit::submit
