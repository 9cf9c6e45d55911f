// Files of the person who runs Godwit, beside the experiments.
#pragma once

#include <string>
#include <string_view>

namespace godwit {

// Where a person's own settings are: $XDG_CONFIG_HOME/godwit/<name>, else ~/.config/godwit/<name> (XDG Base Directory
// Specification: a relative XDG_CONFIG_HOME is none). "" where there is no home.
std::string user_config_file(std::string_view name);

}  // namespace godwit
