#include "godwit/base/user_files.h"

#include <fmt/format.h>

#include <cstdlib>

namespace godwit {

std::string user_config_file(std::string_view name) {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && config[0] == '/') return fmt::format("{}/godwit/{}", config, name);
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return fmt::format("{}/.config/godwit/{}", home, name);
}

}  // namespace godwit
