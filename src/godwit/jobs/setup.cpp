#include "godwit/jobs/setup.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "godwit/base/file.h"
#include "godwit/base/text.h"

namespace godwit::jobs {
namespace {

constexpr const char* kNote = "/.godwit_setup";

// The first trap ends the shell with what failed where no script is being sourced and no function runs; the second
// leaves the note.
constexpr std::string_view kBefore =
    "godwit_setup=\n"
    "trap 'code=$?; [ ${#BASH_SOURCE[@]} -gt 0 ] || { godwit_setup=$BASH_COMMAND; exit $code; }' ERR\n"
    "trap 'code=$?; printf \"%s %s\" \"$code\" \"${godwit_setup:-$BASH_COMMAND}\" >\"$GODWIT_SETUP_NOTE\"' EXIT\n";
constexpr std::string_view kAfter = "\ntrap - ERR EXIT\nunset code godwit_setup GODWIT_SETUP_NOTE";

void prepend(std::string lines, wire::Launch& launch) {
  std::vector<std::string> shell{"/bin/bash", "-c", std::move(lines) + "\nexec \"$@\"", "godwit"};
  launch.program = shell.front();
  shell.insert(shell.end(), launch.arguments.begin(), launch.arguments.end());
  launch.arguments = std::move(shell);
}

}  // namespace

void prepend_setup(const std::vector<std::string>& lines, wire::Launch& launch) {
  if (!lines.empty()) prepend(join(lines, "\n"), launch);
}

void prepend_checked_setup(const std::vector<std::string>& lines, const std::string& sandbox, wire::Launch& launch) {
  if (lines.empty()) return;
  prepend(fmt::format("{}{}{}", kBefore, join(lines, "\n"), kAfter), launch);
  launch.environment.push_back("GODWIT_SETUP_NOTE=" + (sandbox.empty() ? "/dev/null" : sandbox + kNote));
}

std::optional<std::string> failed_setup(const std::string& sandbox) {
  std::error_code error;
  if (!std::filesystem::exists(sandbox + kNote, error)) return std::nullopt;
  const std::string note = read_file(sandbox + kNote);
  const std::size_t space = std::min(note.find(' '), note.size());
  const std::string_view code = std::string_view(note).substr(0, space);
  const std::string_view command = trim(std::string_view(note).substr(space));
  // Of lines that it cannot parse, bash runs none.
  return fmt::format("the setup of its site failed with exit code {}: {}", code,
                     command.starts_with("trap ") ? "bash does not understand its lines" : command);
}

}  // namespace godwit::jobs
