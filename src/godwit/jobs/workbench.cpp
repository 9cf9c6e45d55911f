#include "godwit/jobs/workbench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/jobs/setup.h"
#include "godwit/jobs/staging.h"

namespace godwit::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKept = "kept";  // a folder that marks what is to stay

// Whether the process that made the folder, whose number its name ends in, runs.
bool in_use(const std::string& name) {
  const std::string_view digits = std::string_view(name).substr(name.rfind('-') + 1);
  pid_t pid = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));  // execve's C signature
  out.push_back(nullptr);
  return out;
}

}  // namespace

Workbench::Workbench(const std::string& state_dir, Attempt attempt, std::vector<std::string> setup)
    : parent_(state_dir + "/debug"),
      root_(fmt::format("{}/{}-{}", parent_, attempt.key.file_name(), ::getpid())),
      spools_(state_dir + "/spool"),
      attempt_(std::move(attempt)),
      setup_(std::move(setup)) {}

std::string Workbench::folder() const {
  return attempt_.spec->sandbox ? fmt::format("{}/sandboxes/{}", root_, attempt_.key.file_name())
                                : attempt_.spec->directory;
}

bool Workbench::has_spool() const {
  return !attempt_.spec->checkpoint_files.empty() &&
         fs::is_directory(spools_ + "/" + node_file_name(attempt_.key.node));
}

void Workbench::build() {
  remove_old();
  const SandboxArea area(root_, spools_);
  if (attempt_.spec->sandbox) area.make(attempt_.key);
  // The streams go to the terminal, so their folders need not be made.
  JobSpec spec = *attempt_.spec;
  spec.stdout_path.clear();
  spec.stderr_path.clear();
  try {
    stage_in(area, {attempt_.key, attempt_.site, std::make_shared<const JobSpec>(std::move(spec))});
  } catch (const TransferError& error) {
    remove();
    throw InputError(error.what());
  }
}

void Workbench::remove() const {
  SandboxArea::remove_remains(root_);
  ::rmdir(parent_.c_str());  // fails where another is still there
}

void Workbench::keep() const {
  std::error_code ignored;  // then it goes some day: nothing to stop for
  fs::rename(root_ + "/sandboxes/.trash", root_ + "/" + std::string(kKept), ignored);
}

void Workbench::remove_old() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent_, error))
    if (!in_use(entry.path().filename().string()) && !fs::exists(entry.path() / kKept))
      SandboxArea::remove_remains(entry.path().string());
}

std::vector<std::string> Workbench::command() const {
  std::vector<std::string> words;
  const JobSpec& spec = *attempt_.spec;
  try {
    words.push_back(program_of(spec));
  } catch (const TransferError&) {
    words.push_back(spec.executable);  // no such program: the person will see
  }
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  return words;
}

std::string Workbench::command_line() const {
  std::vector<std::string> words = command();
  for (std::string& word : words) word = shell_word(word);
  return join(words, " ");
}

Workbench::Process Workbench::process(const std::vector<std::string>& command,
                                      const std::vector<std::pair<std::string, std::string>>& secrets) const {
  JobSpec spec = *attempt_.spec;
  std::vector<std::string> setup = spec.setup.empty() ? setup_ : std::exchange(spec.setup, {});
  spec.arguments.assign(command.begin() + 1, command.end());
  const Attempt attempt{attempt_.key, attempt_.site, std::make_shared<const JobSpec>(spec)};
  wire::Launch launch = launch_of(attempt, folder(), command.front(), {});
  // A shell looks the program up by the PATH that the setup lines leave. Who looks for what is wrong with them wants to
  // get past them.
  if (setup.empty()) setup.emplace_back(":");
  prepend_setup(setup, launch);
  ClientEnvironment client{own_environment(), {}};
  for (const auto& [name, value] : secrets) client.secrets.push_back(fmt::format("{}={}", name, value));
  return {launch.directory, launch.program, launch.arguments,
          environment_of(launch, client, {fmt::format("GODWIT_ATTEMPT={}", launch.key)})};
}

void Workbench::Process::become() const {
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  if (::chdir(folder.c_str()) == 0) ::execve(program.c_str(), argv.data(), envp.data());
  std::perror(program.c_str());
  ::_exit(127);
}

}  // namespace godwit::jobs
