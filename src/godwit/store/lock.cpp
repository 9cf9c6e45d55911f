#include "godwit/store/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <tuple>

#include "godwit/base/file.h"
#include "godwit/base/json.h"
#include "godwit/base/user.h"

namespace godwit::store {
namespace {

enum class Taken : std::uint8_t { yes, no, unsupported };

struct flock whole_file() {
  struct flock request{};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  return request;
}

bool means_unsupported(int code) {
  return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL;
}

Taken take(int fd, const std::string& path) {
  struct flock request = whole_file();
  if (::fcntl(fd, F_OFD_SETLK, &request) == 0) return Taken::yes;
  if (errno == EAGAIN || errno == EACCES) return Taken::no;
  if (means_unsupported(errno)) return Taken::unsupported;
  throw SystemError("cannot lock " + path, errno);
}

Taken would_take(int fd, const std::string& path) {
  struct flock request = whole_file();
  if (::fcntl(fd, F_OFD_GETLK, &request) == 0) return request.l_type == F_UNLCK ? Taken::yes : Taken::no;
  if (means_unsupported(errno)) return Taken::unsupported;
  throw SystemError("cannot look at the lock " + path, errno);
}

// What a lock's file says. It begins with whether the holder still holds, so that letting go changes one byte there and
// needs no room on a full disk.
constexpr std::string_view kHolds = R"({"holds":1)";
constexpr off_t kHoldsAt = static_cast<off_t>(kHolds.size()) - 1;

struct Note {
  LockHolder holder;
  bool holds = false;
};

std::optional<LockHolder> holder_of(const std::optional<Note>& note) {
  return note && note->holds ? std::optional(note->holder) : std::nullopt;
}

std::optional<Note> read_note(int fd) {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  if (got <= 0) return std::nullopt;
  const Json json = Json::parse(buffer.data(), buffer.data() + got, nullptr, false);
  if (!json.is_object()) return std::nullopt;  // torn by a crash in the middle of writing it
  LockHolder holder;
  holder.user = json.value("user", "");
  holder.host = json.value("host", "");
  holder.pid = json.value("pid", 0);
  holder.start_time = json.value("start_time", std::uint64_t{0});
  holder.boot_id = json.value("boot_id", "");
  holder.command = json.value("command", "");
  holder.since = json.value("since_us", Micros{0});
  holder.epoch = json.value("epoch", std::uint64_t{0});
  return Note{std::move(holder), json.value("holds", 1) != 0};
}

void write_holder(int fd, const LockHolder& holder, const std::string& path) {
  const std::string rest = Json{{"user", holder.user},       {"host", holder.host},
                                {"pid", holder.pid},         {"start_time", holder.start_time},
                                {"boot_id", holder.boot_id}, {"command", holder.command},
                                {"since_us", holder.since},  {"epoch", holder.epoch}}
                               .dump();
  const std::string text = fmt::format("{},{}\n", kHolds, rest.substr(1));
  if (::ftruncate(fd, 0) != 0) throw SystemError("cannot write " + path, errno);
  // A full disk must not keep an engine from starting: the kernel's lock holds without the note too.
  if (::pwrite(fd, text.data(), text.size(), 0) < 0 && errno != ENOSPC && errno != EDQUOT)
    throw SystemError("cannot write " + path, errno);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

// "" where the system does not say.
std::string boot_id() {
  try {
    std::string text = read_file("/proc/sys/kernel/random/boot_id");
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
  } catch (const SystemError&) {
    return {};
  }
}

// Field 22 of /proc/<pid>/stat (proc(5)); nullopt where there is no such process.
std::optional<std::uint64_t> start_time_of(pid_t pid) {
  std::string stat;
  try {
    stat = read_file(fmt::format("/proc/{}/stat", pid));
  } catch (const SystemError&) {
    return std::nullopt;
  }
  // The command's name, field 2, may hold anything: fields are counted after its last parenthesis.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  std::uint64_t start_time = 0;
  fields >> start_time;
  // A zombie holds no files any more.
  const bool zombie = stat.compare(name_end, 3, ") Z") == 0;
  return zombie ? std::nullopt : std::optional(start_time);
}

// Without kernel locks: is the holder that the file names still to be believed?
bool holder_counts(const std::optional<LockHolder>& holder) {
  return holder && is_alive(*holder).value_or(true);
}

// Whether the open file is still the one at the path. Where its server has dropped it, it is not.
bool is_at(int fd, const std::string& path) {
  struct stat mine{}, there{};
  return ::fstat(fd, &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

}  // namespace

std::string LockHolder::text() const {
  if (pid == 0) return "another process (its lock file does not say which)";
  const std::string of = user.empty() ? "" : " of " + user;
  return fmt::format("process {}{} on {} ({}, since {})", pid, of, host, command, iso_time(since));
}

LockHolder this_process(std::string command) {
  const pid_t pid = ::getpid();
  return {user_name(),        host_name(),          pid, start_time_of(pid).value_or(0), boot_id(),
          std::move(command), system_clock().now(), 0};
}

std::optional<bool> is_alive(const LockHolder& holder) {
  if (holder.host != host_name()) return std::nullopt;
  if (holder.boot_id != boot_id()) return false;
  return start_time_of(holder.pid) == holder.start_time;
}

LockedError::LockedError(const std::string& path, const LockHolder& holder)
    : InputError(
          fmt::format("{} is in use by {}", path, holder.text()),
          is_alive(holder).has_value()
              ? "wait until it ends, or end it with 'godwit stop'"
              : "it is on another host: end it there with 'godwit stop'; where that is certainly not possible any "
                "more, 'godwit take-over' goes on without it"),
      holder_(holder) {}

FileLock FileLock::acquire(const std::string& path, const std::string& command, bool shared) {
  while (true) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file.is_open()) throw SystemError("cannot open the lock " + path, errno);
    const Taken taken = take(file.get(), path);
    if (!is_at(file.get(), path)) continue;  // seized in between
    const std::optional<Note> note = read_note(file.get());
    const std::optional<LockHolder> before = holder_of(note);
    const bool elsewhere = shared && before && !is_alive(*before).has_value();
    if (taken == Taken::no || elsewhere || (taken == Taken::unsupported && holder_counts(before)))
      throw LockedError(path, before.value_or(LockHolder{}));
    LockHolder self = this_process(command);
    self.epoch = note ? note->holder.epoch : 0;
    write_holder(file.get(), self, path);
    return {path, std::move(file), self.epoch, before};
  }
}

FileLock FileLock::seize(const std::string& path, const std::string& command) {
  std::optional<Note> note;
  if (const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); file.is_open())
    note = read_note(file.get());
  const std::string fresh = fmt::format("{}.{}", path, ::getpid());
  FileDescriptor file(::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) throw SystemError("cannot make the lock " + fresh, errno);
  std::ignore = take(file.get(), fresh);
  LockHolder self = this_process(command);
  self.epoch = (note ? note->holder.epoch : 0) + 1;
  write_holder(file.get(), self, fresh);
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(fresh.c_str());
    throw SystemError("cannot replace the lock " + path, code);
  }
  return {path, std::move(file), self.epoch, holder_of(note)};
}

void FileLock::check() const {
  const FileDescriptor there(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  const std::optional<Note> note = there.is_open() ? read_note(there.get()) : std::nullopt;
  if (!is_at(file_.get(), path_) || (note && note->holder.epoch > epoch_))
    throw TakenOverError(note ? "somebody else goes on with this experiment: " + note->holder.text()
                              : "somebody else has taken this experiment over");
  ::futimens(file_.get(), nullptr);
}

FileLock::~FileLock() {
  // Best effort: at a fault the next holder merely checks the journal needlessly. Where there was no room for a note,
  // none is made of this byte.
  struct stat about{};
  if (file_.is_open() && ::fstat(file_.get(), &about) == 0 && about.st_size > kHoldsAt &&
      ::pwrite(file_.get(), "0", 1, kHoldsAt) != 1)
    return;
}

LockState probe_lock(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    throw SystemError("cannot open the lock " + path, errno);
  }
  LockState state{false, holder_of(read_note(file.get())), 0};
  struct stat about{};
  if (::fstat(file.get(), &about) == 0)
    state.heard_of = Micros{about.st_mtim.tv_sec} * 1'000'000 + about.st_mtim.tv_nsec / 1000;
  const Taken free = would_take(file.get(), path);
  state.held = free == Taken::no || (free == Taken::unsupported && holder_counts(state.holder));
  return state;
}

}  // namespace godwit::store
