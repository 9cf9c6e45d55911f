#include "godwit/jobs/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "godwit/base/error.h"

namespace godwit::jobs {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw SystemError("cannot make the folder " + path, error.value());
}

// A job may leave folders that not even their owner may write to.
void make_deletable(const fs::path& folder) {
  ::chmod(folder.c_str(), 0700);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) make_deletable(entry.path());
}

}  // namespace

SandboxArea::SandboxArea(const std::string& state_dir, const std::string& spool_dir)
    : sandboxes_(state_dir + "/sandboxes"),
      spools_(spool_dir.empty() ? state_dir + "/spool" : spool_dir),
      trash_(sandboxes_ + "/.trash") {
  make_folder(trash_);
  make_folder(spools_);
}

std::string SandboxArea::spool_of(const AttemptKey& key) const {
  return spools_ + "/" + node_file_name(key.node);
}

std::optional<std::string> SandboxArea::make(const AttemptKey& key) const {
  const std::string path = path_of(key);
  if (take_spare(path)) return std::nullopt;
  if (::mkdir(path.c_str(), 0777) == 0) return std::nullopt;
  if (errno != EEXIST) throw SystemError("cannot make the sandbox " + path, errno);
  std::string remains = move_away(key.file_name());
  ::unlink(marker_of(key).c_str());
  if (::mkdir(path.c_str(), 0777) != 0) throw SystemError("cannot make the sandbox " + path, errno);
  return remains;
}

std::string SandboxArea::discard(const AttemptKey& key) const {
  if (keep_as_spare(path_of(key))) return {};
  ::unlink(marker_of(key).c_str());
  return move_away(key.file_name());
}

bool SandboxArea::take_spare(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  // Not over an older sandbox, which may have been left empty.
  if (spares_.empty() || ::renameat2(AT_FDCWD, spares_.back().c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
    return false;
  spares_.pop_back();
  return true;
}

// True where nothing of it remains to be removed.
bool SandboxArea::keep_as_spare(const std::string& path) const {
  constexpr std::size_t kMostSpares = 256;
  static std::atomic<unsigned> counter{0};
  const std::lock_guard lock(mutex_);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT;
  std::error_code error;
  if ((info.st_mode & 0700) != 0700 || !fs::is_empty(path, error) || error) return false;
  if (spares_.size() >= kMostSpares) return ::rmdir(path.c_str()) == 0;
  const std::string spare = fmt::format("{}/spare-{}-{}", trash_, ::getpid(), counter++);
  if (::rename(path.c_str(), spare.c_str()) != 0) return false;
  spares_.push_back(spare);
  return true;
}

std::string SandboxArea::move_away(const std::string& name) const {
  static std::atomic<unsigned> counter{0};
  std::string to = fmt::format("{}/{}-{}", trash_, ::getpid(), counter++);
  if (::rename((sandboxes_ + "/" + name).c_str(), to.c_str()) != 0) {
    if (errno == ENOENT) return {};
    // A remainder of a process that had our number.
    remove_remains(to);
    if (::rename((sandboxes_ + "/" + name).c_str(), to.c_str()) != 0)
      throw SystemError("cannot move the sandbox " + name, errno);
  }
  return to;
}

std::vector<std::string> SandboxArea::discard_oldest(std::size_t most,
                                                     const std::function<bool(const std::string&)>& in_use) const {
  std::vector<std::pair<fs::file_time_type, std::string>> kept;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sandboxes_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') || !entry.is_directory(error) || in_use(name)) continue;
    kept.emplace_back(entry.last_write_time(error), name);
  }
  std::vector<std::string> remains;
  if (kept.size() <= most) return remains;
  std::sort(kept.begin(), kept.end());
  kept.resize(kept.size() - most);
  for (const auto& [time, name] : kept) {
    ::unlink((sandboxes_ + "/" + name + ".spooled").c_str());
    remains.push_back(move_away(name));
  }
  return remains;
}

void SandboxArea::remove_remains(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return;
  make_deletable(path);
  fs::remove_all(path, error);  // what stays now (a mount, say) is not ours to force
}

std::vector<std::string> SandboxArea::old_remains() const {
  std::vector<std::string> out;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(trash_, error)) out.push_back(entry.path().string());
  return out;
}

}  // namespace godwit::jobs
