#include "godwit/experiment/secrets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "godwit/base/file.h"
#include "godwit/base/text.h"
#include "godwit/base/user_files.h"

namespace godwit::experiment {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;
constexpr mode_t kOthers = 0077;

const std::string* value_of(const Secrets& secrets, std::string_view name) {
  const auto found =
      std::find_if(secrets.begin(), secrets.end(), [&](const auto& entry) { return entry.first == name; });
  return found == secrets.end() ? nullptr : &found->second;
}

// Nothing where there is no such file.
Secrets of_user(const std::string& file) {
  struct stat info{};
  if (file.empty() || ::stat(file.c_str(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode)) throw InputError(file + " is no file", "make it one with lines NAME=value");
  if (info.st_uid != ::geteuid())
    throw InputError(fmt::format("{} belongs to another user, who can read your secrets", file),
                     "make one of your own: cp it, then chmod 600");
  if ((info.st_mode & kOthers) != 0)
    throw InputError(fmt::format("{} may be read by others (its mode is {:04o})", file, info.st_mode & 07777),
                     "chmod 600 " + file);
  return read_secrets(read_file(file, kMostBytes), file);
}

}  // namespace

bool legal_variable_name(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

Secrets read_secrets(std::string_view text, const std::string& file) {
  Secrets out;
  Diagnostics diagnostics;
  std::uint32_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    const Position position{file, ++number, 1};
    const std::string_view entry = trim(line);
    if (entry.empty() || entry.starts_with('#')) continue;
    const std::size_t equals = entry.find('=');
    const std::string name(trim(entry.substr(0, equals)));
    // The line itself may be a secret: it is not shown.
    if (equals == std::string_view::npos || !legal_variable_name(name)) {
      diagnostics.error(position, "not of the form NAME=value", {}, "one variable a line, without 'export'");
      continue;
    }
    std::string_view value = trim(entry.substr(equals + 1));
    const bool quoted =
        value.size() >= 2 && value.front() == value.back() && (value.front() == '"' || value.front() == '\'');
    if (quoted) value = value.substr(1, value.size() - 2);
    if (value.find('\0') != std::string_view::npos)
      diagnostics.error(position, "the value holds a zero byte", name);
    else if (value_of(out, name) != nullptr)
      diagnostics.error(position, "this variable is here twice", name, "leave one of them out");
    else
      out.emplace_back(name, value);
  }
  diagnostics.throw_if_errors();
  return out;
}

Secrets find_secrets(const ExperimentSpec& spec) {
  Secrets out;
  if (spec.secrets.empty()) return out;
  const std::string file = user_config_file("secrets");
  const Secrets kept = of_user(file);
  Diagnostics diagnostics;
  for (const Reference& secret : spec.secrets) {
    const char* own = std::getenv(secret.name.c_str());
    const std::string* value = value_of(kept, secret.name);
    if (own != nullptr && own[0] != '\0')
      out.emplace_back(secret.name, own);
    else if (value != nullptr && !value->empty())
      out.emplace_back(secret.name, *value);
    else
      diagnostics.error(secret.position, "this secret has no value", secret.name,
                        fmt::format("export {} before 'godwit run', or write a line {}=… into {} (chmod 600)",
                                    secret.name, secret.name, file.empty() ? "~/.config/godwit/secrets" : file));
  }
  diagnostics.throw_if_errors();
  return out;
}

}  // namespace godwit::experiment
