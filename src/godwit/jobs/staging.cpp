#include "godwit/jobs/staging.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "godwit/base/hash.h"
#include "godwit/base/text.h"
#include "godwit/jobs/classify.h"
#include "godwit/store/atomic_file.h"

namespace godwit::jobs {
namespace {

namespace fs = std::filesystem;

constexpr auto kDurability = store::Durability::process;
constexpr std::uint64_t kFullBytes = 1u << 20;  // a disk with less than this is full

// The kernel stamps files with a clock that lags a little.
constexpr Micros kClockLag = 50'000;

bool is_disk_full(int code) {
  return code == ENOSPC || code == EDQUOT;
}

// Runs `fn`; what fails in it becomes a TransferError that begins with `what`.
template <typename Fn>
void transferring(const std::string& what, Fn&& fn) {
  try {
    fn();
  } catch (const TransferError& error) {
    throw TransferError(what + ": " + error.what(), error.code());
  } catch (const SystemError& error) {
    throw TransferError(what + ": " + error.what(), error.code());
  } catch (const fs::filesystem_error& error) {
    throw TransferError(what + ": " + error.code().message() + ": " + error.path1().string(), error.code().value());
  } catch (const Error& error) {
    throw TransferError(what + ": " + error.what());
  }
}

// A name that cannot leave the folder it is in, whatever is there.
void check_relative(const std::string& name) {
  const fs::path path(name);
  const bool climbs = std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (path.is_absolute() || climbs || name.find('\0') != std::string::npos)
    throw TransferError("'" + name + "' leads out of the sandbox");
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string last_component(const std::string& path) {
  return fs::path(without_trailing_slashes(path)).filename().string();
}

bool is_system_program(const std::string& path) {
  static constexpr std::array<std::string_view, 6> kFolders{"/bin/",      "/sbin/",    "/usr/bin/",
                                                            "/usr/sbin/", "/usr/lib/", "/usr/libexec/"};
  return std::any_of(kFolders.begin(), kFolders.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

bool copies_executable(const JobSpec& spec) {
  return spec.sandbox && spec.transfer_executable && !is_system_program(spec.executable);
}

// --- in -----------------------------------------------------------------------------------------------------------

// "https" of "https://…"; "" where it is a path.
std::string scheme_of(const std::string& source) {
  const std::size_t end = source.find("://");
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-'; };
  if (end == std::string::npos || end == 0 ||
      !std::all_of(source.begin(), source.begin() + static_cast<long>(end), letter))
    return {};
  return lower(source.substr(0, end));
}

// By the curl program, which knows proxies and certificates of the machine.
void download(const std::string& url, const std::string& to) {
  std::array<std::string, 10> words{"curl",     "--fail", "--silent", "--show-error", "--location", "--retry", "3",
                                    "--output", to,       url};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, "curl", nullptr, nullptr, argv.data(), environ);
  if (error != 0) throw SystemError("cannot execute curl, which fetches URLs", error);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw TransferError(fmt::format("curl ended with {}", WIFEXITED(status) ? WEXITSTATUS(status) : -1));
}

// Where `name` is to be put; its folders are made. Links that inputs brought along may not lead it out.
std::string landing(const std::string& sandbox, const std::string& name) {
  check_relative(name);
  const std::string path = sandbox + "/" + name;
  const fs::path folder = fs::path(path).parent_path();
  fs::create_directories(folder);
  const std::string inside = fs::path(name).parent_path().string();
  if (!inside.empty()) resolve_within(sandbox, inside);
  return path;
}

void bring(const JobSpec& spec, const InputFile& input, const std::string& sandbox) {
  const std::string scheme = scheme_of(input.source);
  const std::string name = input.name.empty() ? last_component(input.source) : input.name;
  if (!scheme.empty() && scheme != "file") {
    if (scheme != "http" && scheme != "https" && scheme != "ftp")
      throw TransferError("URLs of the kind " + scheme + ":// cannot be fetched here");
    return download(input.source, landing(sandbox, name));
  }
  const std::string source =
      host_path(spec, scheme.empty() ? input.source : input.source.substr(std::string_view("file://").size()));
  struct stat info{};
  if (::stat(source.c_str(), &info) != 0) throw SystemError(source, errno);
  const bool contents = input.contents_only && S_ISDIR(info.st_mode);
  const std::string to = contents ? landing(sandbox, input.name.empty() ? "." : input.name) : landing(sandbox, name);
  store::copy_tree(source, to, kDurability);
}

// What a job before left must be what it left: else this one would go on from something else, or begin anew, and nobody
// would see it.
void check_expected(const JobSpec& spec) {
  for (const InputFile& input : spec.inputs) {
    if (!input.expected) continue;
    const std::optional<Content> now = content_of(host_path(spec, input.source));
    if (now != input.expected)
      throw InputChanged(fmt::format("input '{}' is not what the job before left: {}", input.source,
                                     difference_of(now, *input.expected)));
  }
}

bool has_spool(const SandboxArea& area, const Attempt& attempt) {
  return !attempt.spec->checkpoint_files.empty() && fs::is_directory(area.spool_of(attempt.key));
}

void bring_spool(const SandboxArea& area, const Attempt& attempt) {
  if (!has_spool(area, attempt)) return;
  const std::string spool = area.spool_of(attempt.key);
  transferring("the checkpoint of the attempt before", [&] {
    store::write_file(area.marker_of(attempt.key), {}, kDurability);
    store::copy_tree(spool, area.path_of(attempt.key), kDurability);
  });
}

void bring_executable(const JobSpec& spec, const std::string& sandbox) {
  if (!copies_executable(spec)) return;
  transferring("executable '" + spec.executable + "'", [&] {
    const std::string to = sandbox + "/" + last_component(spec.executable);
    store::copy_file(host_path(spec, spec.executable), to, kDurability);
    struct stat info{};
    if (::stat(to.c_str(), &info) == 0) ::chmod(to.c_str(), (info.st_mode & 0777) | S_IXUSR);
  });
}

std::string search_path(const JobSpec& spec) {
  for (const auto& [name, value] : spec.environment)
    if (name == "PATH") return value;
  const char* own = spec.inherit_environment ? std::getenv("PATH") : nullptr;
  return own != nullptr ? own : "/usr/local/bin:/usr/bin:/bin";
}

std::string searched(const JobSpec& spec) {
  const std::string path = search_path(spec);
  for (const std::string_view folder : split(path, ':')) {
    const std::string candidate = host_path(spec, std::string(folder) + "/" + spec.executable);
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) return candidate;
  }
  throw TransferError("cannot execute " + spec.executable + ": there is no such program in PATH (" + path + ")",
                      ENOENT);
}

// --- out ----------------------------------------------------------------------------------------------------------

// A second name for the file, put in place at once; false where a copy is needed.
bool link_to(const std::string& source, const std::string& target) {
  struct stat info{};
  // With other names it may be written to elsewhere.
  if (::stat(source.c_str(), &info) != 0 || info.st_nlink != 1) return false;
  const std::string temporary =
      fmt::format("{}/{}{}", fs::path(target).parent_path().string(), store::kTemporaryPrefix, hex(hash64(source)));
  ::unlink(temporary.c_str());
  if (::link(source.c_str(), temporary.c_str()) != 0) return false;
  const int renamed = ::rename(temporary.c_str(), target.c_str());
  const int error = errno;
  ::unlink(temporary.c_str());  // there still where the target was this file already
  if (renamed != 0) throw SystemError(target, error);
  return true;
}

// Every link below `folder` must end within the sandbox.
void check_links(const std::string& sandbox, const std::string& folder) {
  const std::string root = fs::canonical(sandbox).string();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_symlink()) continue;
    const std::string relative = entry.path().lexically_relative(root).string();
    resolve_within(root, relative);
  }
}

// Puts the sandbox's `name` at `target`; false where there is nothing.
bool deliver(const std::string& sandbox, const std::string& name, std::string target) {
  const auto source = resolve_within(sandbox, name);
  if (!source) return false;
  if (target.ends_with('/')) target += last_component(name);
  fs::create_directories(fs::path(target).parent_path());
  if (fs::is_directory(*source)) {
    check_links(sandbox, *source);
    store::copy_tree(*source, target, kDurability);
    return true;
  }
  if (fs::is_directory(target)) throw SystemError(target, EISDIR);
  if (fs::exists(target) && fs::equivalent(*source, target)) return true;  // linked before a crash
  if (!link_to(*source, target)) store::copy_file(*source, target, kDurability);
  return true;
}

// What an output's name means: itself, or all that its pattern meets.
std::vector<std::string> meant(const std::string& sandbox, const OutputFile& output) {
  if (!output.always || output.name.find('*') == std::string::npos) return {output.name};
  std::vector<std::string> names;
  const fs::path pattern(output.name);
  const auto folder = resolve_within(sandbox, pattern.has_parent_path() ? pattern.parent_path().string() : ".");
  if (!folder || !fs::is_directory(*folder)) return names;
  for (const fs::directory_entry& entry : fs::directory_iterator(*folder))
    if (::fnmatch(pattern.filename().c_str(), entry.path().filename().c_str(), FNM_PERIOD) == 0)
      names.push_back((pattern.parent_path() / entry.path().filename()).string());
  return names;
}

bool deliver(const JobSpec& spec, const OutputFile& output, const std::string& sandbox) {
  const std::string& target = output.target.empty() ? output.name : output.target;
  bool there = false;
  transferring("output '" + output.name + "'", [&] {
    for (const std::string& name : meant(sandbox, output)) there = deliver(sandbox, name, host_path(spec, target));
  });
  return there;
}

void fail(Ending& ending, Outcome outcome, std::string detail) {
  ending.outcome = outcome;
  ending.detail = std::move(detail);
}

void bring_back_all(const JobSpec& spec, const std::string& sandbox, Ending& ending) {
  std::vector<std::string> missing;
  // Before anything is moved, so that a failure leaves the targets alone.
  for (const OutputFile& output : spec.outputs)
    if (output.required && !resolve_within(sandbox, output.name)) missing.push_back("'" + output.name + "'");
  if (!missing.empty())
    return fail(ending, Outcome::missing_output, "exited with 0, but left no " + join(missing, ", "));
  for (const OutputFile& output : spec.outputs)
    if (!deliver(spec, output, sandbox) && output.required)
      return fail(ending, Outcome::missing_output, "left no '" + output.name + "'");
}

// Of an attempt that did not succeed: what it reported, for people, and what comes back in any case.
void bring_back_reports(const JobSpec& spec, const std::string& sandbox) {
  for (const OutputFile& output : spec.outputs)
    if (output.always || (!spec.metrics_file.empty() && output.name == spec.metrics_file))
      deliver(spec, output, sandbox);
}

bool is_full(const std::string& path) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0) return false;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize < kFullBytes;
}

void blame_disk(const JobSpec& spec, const std::string& sandbox, Ending& ending) {
  switch (ending.outcome) {
    case Outcome::signaled:
    case Outcome::exited:
    case Outcome::missing_output:
    case Outcome::transfer_failed:
    case Outcome::not_started:
      break;
    default:
      return;
  }
  if (ending.success()) return;
  for (const std::string& path : {sandbox, spec.directory}) {
    if (!is_full(path)) continue;
    const std::string before = ending.detail.empty() ? fmt::format("exited with {}", ending.exit_code) : ending.detail;
    return fail(ending, Outcome::disk_full, fmt::format("{}; the disk of {} is full", before, path));
  }
}

// --- the spool ----------------------------------------------------------------------------------------------------

bool wrote_since(const std::string& path, Micros started) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return false;
  const Micros modified = static_cast<Micros>(info.st_mtim.tv_sec) * 1'000'000 + info.st_mtim.tv_nsec / 1000;
  if (modified >= started - kClockLag) return true;
  if (!S_ISDIR(info.st_mode)) return false;
  return std::any_of(fs::recursive_directory_iterator(path), fs::recursive_directory_iterator(),
                     [&](const fs::directory_entry& entry) {
                       return entry.is_regular_file() && wrote_since(entry.path().string(), started);
                     });
}

bool wrote_checkpoint(const JobSpec& spec, const std::string& sandbox, Micros started) {
  return std::any_of(spec.checkpoint_files.begin(), spec.checkpoint_files.end(), [&](const std::string& name) {
    const auto path = resolve_within(sandbox, name);
    return path && wrote_since(*path, started);
  });
}

// The new spool replaces the old one whole.
void save_spool(const JobSpec& spec, const std::string& sandbox, const std::string& spool) {
  const std::string fresh = fs::path(spool).parent_path().string() + "/.new-" + fs::path(spool).filename().string();
  fs::remove_all(fresh);
  fs::create_directories(fresh);
  bool any = false;
  for (const std::string& name : spec.checkpoint_files)
    any = deliver(sandbox, name, fmt::format("{}/{}", fresh, name)) || any;
  if (any && ::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, spool.c_str(), RENAME_EXCHANGE) != 0) {
    // No old one, or a file system that cannot exchange: a crash in between is made good when staging out is repeated.
    fs::remove_all(spool);
    fs::rename(fresh, spool);
  }
  fs::remove_all(fresh);
}

void settle_spool(const SandboxArea& area, const Attempt& attempt, const Ending& ending,
                  std::optional<bool> progressed) {
  const JobSpec& spec = *attempt.spec;
  const std::string spool = area.spool_of(attempt.key);
  const std::string sandbox = area.path_of(attempt.key);
  if (ending.success()) {
    fs::remove_all(spool);
    return;
  }
  if (!fs::is_directory(sandbox)) return;
  const bool wrote = wrote_checkpoint(spec, sandbox, ending.started);
  const bool useful = went_wrong(ending) ? progressed.value_or(wrote) : wrote;
  if (useful)
    save_spool(spec, sandbox, spool);
  else if (went_wrong(ending) && fs::exists(area.marker_of(attempt.key)))
    fs::remove_all(spool);
}

}  // namespace

std::string host_path(const JobSpec& spec, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  return spec.directory + "/" + path;
}

std::optional<std::string> resolve_within(const std::string& folder, const std::string& relative) {
  check_relative(relative);
  const std::string path = folder + "/" + relative;
  const std::unique_ptr<char, decltype(&std::free)> root(::realpath(folder.c_str(), nullptr), &std::free);
  const std::unique_ptr<char, decltype(&std::free)> real(root ? ::realpath(path.c_str(), nullptr) : nullptr,
                                                         &std::free);
  if (!real) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return std::nullopt;
    throw TransferError("'" + relative + "': " + SystemError(path, error).what(), error);
  }
  const std::string_view inside(real.get());
  const std::string_view outside(root.get());
  const bool below = inside.starts_with(outside) && inside.substr(outside.size()).starts_with('/');
  if (inside != outside && !below)
    throw TransferError("'" + relative + "' is a symbolic link that leads out of the sandbox, to " +
                        std::string(inside));
  return std::string(inside);
}

bool brings_nothing(const SandboxArea& area, const Attempt& attempt) {
  const JobSpec& spec = *attempt.spec;
  if (!spec.sandbox) return true;
  return spec.inputs.empty() && !copies_executable(spec) && !has_spool(area, attempt);
}

bool left_nothing(const SandboxArea& area, const Attempt& attempt) {
  if (!attempt.spec->sandbox) return true;
  std::error_code error;
  return fs::is_empty(area.path_of(attempt.key), error) && !error && !has_spool(area, attempt);
}

void stage_in(const SandboxArea& area, const Attempt& attempt) {
  const JobSpec& spec = *attempt.spec;
  for (const std::string* path : {&spec.stdout_path, &spec.stderr_path})
    if (!path->empty())
      transferring("output folder", [&] { fs::create_directories(fs::path(host_path(spec, *path)).parent_path()); });
  if (!spec.sandbox) return;
  check_expected(spec);
  const std::string sandbox = area.path_of(attempt.key);
  for (const InputFile& input : spec.inputs)
    transferring("input '" + input.source + "'", [&] { bring(spec, input, sandbox); });
  bring_spool(area, attempt);
  bring_executable(spec, sandbox);
}

std::string program_of(const JobSpec& spec) {
  if (copies_executable(spec)) return "./" + last_component(spec.executable);
  const std::string here = host_path(spec, spec.executable);
  const bool bare = spec.executable.find('/') == std::string::npos;
  const bool searches = bare && (!spec.transfer_executable || (!spec.sandbox && ::access(here.c_str(), F_OK) != 0));
  return searches ? searched(spec) : here;
}

Ending stage_out(const SandboxArea& area, const Attempt& attempt, Ending ending, std::optional<bool> progressed) {
  const JobSpec& spec = *attempt.spec;
  const std::string sandbox = area.path_of(attempt.key);
  try {
    if (spec.sandbox && ending.success())
      bring_back_all(spec, sandbox, ending);
    else if (spec.sandbox)
      bring_back_reports(spec, sandbox);
  } catch (const TransferError& error) {
    if (ending.success())
      fail(ending, is_disk_full(error.code()) ? Outcome::disk_full : Outcome::transfer_failed, error.what());
    else
      ending.detail += (ending.detail.empty() ? "" : "; ") + std::string(error.what());
  }
  blame_disk(spec, sandbox, ending);
  if (!spec.sandbox || spec.checkpoint_files.empty()) return ending;
  try {
    transferring("checkpoint", [&] { settle_spool(area, attempt, ending, progressed); });
  } catch (const TransferError& error) {
    ending.detail += (ending.detail.empty() ? "" : "; ") + std::string(error.what());
  }
  return ending;
}

}  // namespace godwit::jobs
