#include "godwit/engine/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>

#include "godwit/base/units.h"
#include "godwit/journal/pause_note.h"

namespace godwit::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEnoughBytes = std::size_t{4} << 20;
constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

std::uint64_t free_on(const std::string& folder) {
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return 0;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

// Up from the folder, as long as it is the same device.
std::string mount_point(const std::string& folder) {
  struct stat here{};
  fs::path path = fs::weakly_canonical(folder);
  if (::stat(path.c_str(), &here) != 0) return folder;
  while (path.has_relative_path()) {
    struct stat above{};
    if (::stat(path.parent_path().c_str(), &above) != 0 || above.st_dev != here.st_dev) break;
    path = path.parent_path();
  }
  return path;
}

// Writes into a file that has no name, to the disk and not only to memory: file systems over a network tell of a quota
// no earlier. The error, or 0; what is wrong beside a lack of room is for others to find.
int try_to_write(const std::string& folder) {
  const std::string name = folder + "/.godwit-room-" + std::to_string(::getpid());
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int fault = file < 0 ? errno : 0;
  if (file >= 0) ::unlink(name.c_str());
  static const std::string kPiece(kPieceBytes, '\x5a');  // zeros might be compressed away
  for (std::size_t bytes = 0; fault == 0 && bytes < kEnoughBytes; bytes += kPieceBytes) {
    const ssize_t written = ::write(file, kPiece.data(), kPiece.size());
    if (written != static_cast<ssize_t>(kPiece.size())) fault = written < 0 ? errno : ENOSPC;
  }
  if (fault == 0 && ::fdatasync(file) != 0) fault = errno;
  if (file >= 0 && ::close(file) != 0 && fault == 0) fault = errno;
  return fault == ENOSPC || fault == EDQUOT ? fault : 0;
}

class FileDisk final : public Disk {
 public:
  FileDisk(std::vector<std::string> folders, std::string note_file)
      : folders_(std::move(folders)), note_file_(std::move(note_file)) {
    leave_note("");
  }

  std::uint64_t free_bytes() override {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const std::string& folder : folders_)
      if (fs::exists(folder)) least = std::min(least, free_on(folder));
    return least;
  }

  std::optional<NoRoom> without_room() override {
    for (const std::string& folder : folders_) {
      std::error_code error;
      if (!fs::is_directory(folder, error)) continue;
      const int fault = try_to_write(folder);
      if (fault == 0) continue;
      const std::uint64_t free = free_on(folder);
      return NoRoom{mount_point(folder), free, fault == EDQUOT || free >= 2 * kEnoughBytes};
    }
    return std::nullopt;
  }

  void leave_note(const std::string& text) override { journal::write_pause_note(note_file_, text); }

 private:
  std::vector<std::string> folders_;
  std::string note_file_;
};

}  // namespace

std::string NoRoom::text() const {
  if (quota)
    return fmt::format("the quota on {} is used up ({} free there for others)", filesystem, format_bytes(free_bytes));
  return fmt::format("the disk is full: {} has {} free", filesystem, format_bytes(free_bytes));
}

std::unique_ptr<Disk> make_disk(std::vector<std::string> folders, std::string note_file) {
  return std::make_unique<FileDisk>(std::move(folders), std::move(note_file));
}

}  // namespace godwit::engine
