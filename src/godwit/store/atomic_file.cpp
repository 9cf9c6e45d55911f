#include "godwit/store/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/store/file_descriptor.h"

namespace godwit::store {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A file under a temporary name in its target's folder; removed unless put in place.
class Unfinished {
 public:
  Unfinished(const std::string& target, mode_t mode) : target_(target) {
    static std::atomic<unsigned> counter{0};
    int fd = -1;
    do {
      path_ = fmt::format("{}/{}{}-{}", folder_of(target), kTemporaryPrefix, ::getpid(), counter++);
      fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EEXIST);
    if (fd < 0) throw SystemError("cannot write " + target, errno);
    file_ = FileDescriptor(fd);
  }
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  int fd() const { return file_.get(); }
  const std::string& target() const { return target_; }

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(fd(), content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void put_in_place(Durability durability) {
    if (durability == Durability::machine && ::fsync(fd()) != 0) fail();
    // close() reports what some network file systems could not write.
    if (::close(file_.release()) != 0) fail();
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail();
    path_.clear();
    if (durability == Durability::machine) sync_folder(folder_of(target_));
  }

  [[noreturn]] void fail() const { throw SystemError("cannot write " + target_, errno); }

 private:
  std::string target_;
  std::string path_;
  FileDescriptor file_;
};

FileDescriptor open_to_read(const std::string& path) {
  // Not blocking: a FIFO without writer must not hold us.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) throw SystemError("cannot read " + path, errno);
  return file;
}

struct stat status_of(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) throw SystemError("cannot read " + path, errno);
  return status;
}

// By read and write: where the kernel cannot copy between these two files.
void copy_through_buffer(int from, Unfinished& to, const std::string& source) {
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError("cannot read " + source, errno);
    if (got == 0) return;
    to.write({buffer.data(), static_cast<std::size_t>(got)});
  }
}

// copy_file_range shares blocks where the file system can; it gives up (and moves no offset) where it cannot
// serve.
void copy_content(int from, Unfinished& to, const std::string& source) {
  constexpr std::size_t kChunk = std::size_t{1} << 30;
  for (;;) {
    const ssize_t copied = ::copy_file_range(from, nullptr, to.fd(), nullptr, kChunk, 0);
    if (copied > 0) continue;
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) to.fail();
    // 0 is the end, or a file of /proc that does not know its size: reading tells.
    return copy_through_buffer(from, to, source);
  }
}

// Walks a tree for copy_tree.
class TreeCopy {
 public:
  TreeCopy(const std::string& root, Durability durability) : root_(fs::canonical(root)), durability_(durability) {}

  void folder(const fs::path& source, const fs::path& target) {
    enter(source);
    fs::create_directories(target);
    for (const fs::directory_entry& entry : fs::directory_iterator(source)) {
      const fs::path& from = entry.path();
      if (from.filename().string().starts_with(kTemporaryPrefix)) continue;
      const fs::path to = target / from.filename();
      if (entry.is_symlink() && stays_within(from))
        link(from, to);
      else if (entry.is_directory())
        folder(from, to);
      else if (entry.is_regular_file())
        copy_file(from.string(), to.string(), durability_);
      else
        throw Error(from.string() + ": cannot be copied: " +
                    (entry.is_symlink() ? "a symbolic link that leads nowhere" : "neither a file nor a folder"));
    }
    if (durability_ == Durability::machine) sync_folder(target.string());
    open_.pop_back();
  }

 private:
  // Only a link to a folder above itself can bring the walk back into a folder that is being walked.
  void enter(const fs::path& source) {
    const fs::path real = fs::canonical(source);
    for (const fs::path& open : open_)
      if (open == real) throw Error(source.string() + ": cannot be copied: a symbolic link to a folder it is in");
    open_.push_back(real);
  }

  bool stays_within(const fs::path& link) const {
    const fs::path points_to = fs::read_symlink(link);
    if (points_to.is_absolute()) return false;
    const fs::path real = fs::weakly_canonical(link.parent_path() / points_to);
    const fs::path relative = real.lexically_relative(root_);
    return !relative.empty() && *relative.begin() != "..";
  }

  void link(const fs::path& from, const fs::path& to) const {
    const fs::path temporary = to.parent_path() / fmt::format("{}{}-link", kTemporaryPrefix, ::getpid());
    fs::remove(temporary);
    fs::copy_symlink(from, temporary);
    fs::rename(temporary, to);
  }

  fs::path root_;
  Durability durability_;
  std::vector<fs::path> open_;  // the folders between the root and the one being walked, resolved
};

}  // namespace

void write_file(const std::string& path, std::string_view content, Durability durability) {
  Unfinished file(path, 0666);
  file.write(content);
  file.put_in_place(durability);
}

void copy_file(const std::string& source, const std::string& target, Durability durability) {
  const FileDescriptor from = open_to_read(source);
  const struct stat status = status_of(from.get(), source);
  if (S_ISDIR(status.st_mode)) throw SystemError("cannot copy " + source, EISDIR);
  if (!S_ISREG(status.st_mode)) throw Error(source + ": cannot be copied: neither a file nor a folder");
  Unfinished to(target, 0600);
  copy_content(from.get(), to, source);
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  if (::fchmod(to.fd(), status.st_mode & 0777) != 0 || ::futimens(to.fd(), times) != 0) to.fail();
  to.put_in_place(durability);
}

void copy_tree(const std::string& source, const std::string& target, Durability durability) {
  try {
    if (fs::is_directory(source))
      TreeCopy(source, durability).folder(source, target);
    else
      copy_file(source, target, durability);
  } catch (const fs::filesystem_error& error) {
    throw SystemError("cannot copy " + error.path1().string(), error.code().value());
  }
}

void sync_folder(const std::string& folder) {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.is_open()) throw SystemError("cannot open " + folder, errno);
  // Some file systems know no fsync of folders.
  if (::fsync(file.get()) != 0 && errno != EINVAL) throw SystemError("cannot sync " + folder, errno);
}

}  // namespace godwit::store
