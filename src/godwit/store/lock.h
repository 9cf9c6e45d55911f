// The lock of a single writer: a file whose kernel lock (open file description lock, which dies with its holder
// and works over NFS) decides, and whose content says who has it.
//
// Where a file system has no locks the content decides: a holder on this host that is dead is stale; one on
// another host is believed, and the message says how to remove it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "godwit/base/clock.h"
#include "godwit/base/error.h"
#include "godwit/store/file_descriptor.h"

namespace godwit::store {

// A process that has or had a lock.
struct LockHolder {
  std::string user, host;
  pid_t pid = 0;
  std::uint64_t start_time = 0;  // in clock ticks after boot: tells a pid's next owner from this one
  std::string boot_id;           // the host's boot that start_time counts from
  std::string command;           // what it is doing: "godwit run"
  Micros since = 0;
  std::uint64_t epoch = 0;  // how often the lock has been seized

  // "process 4711 of ada on login1 (godwit run, since 2026-11-30T20:31:47.123Z)"
  std::string text() const;
};

// This process as a holder.
LockHolder this_process(std::string command);
// Whether the process runs; nullopt where it is on another host and cannot be asked.
std::optional<bool> is_alive(const LockHolder& holder);

// Another process has the lock.
class LockedError : public InputError {
 public:
  LockedError(const std::string& path, const LockHolder& holder);
  const LockHolder& holder() const { return holder_; }

 private:
  LockHolder holder_;
};

// Somebody else took what this process had locked.
class TakenOverError : public Error {
 public:
  using Error::Error;
};

class FileLock {
 public:
  // Takes the lock, making its file where absent. `shared`: other hosts may have the file system mounted; then a holder
  // on another host that did not let go orderly is believed, since its lock may not be seen here. Throws LockedError
  // where another has it, SystemError where the file cannot be written.
  static FileLock acquire(const std::string& path, const std::string& command, bool shared = false);
  // Takes it from whoever has it: a new file comes in the place of the one that the other holds, who finds that out by
  // check().
  static FileLock seize(const std::string& path, const std::string& command);

  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) = delete;
  // Notes in the file that this holder ended orderly.
  ~FileLock();

  // Tells others that the holder is alive (see LockState::heard_of). Throws TakenOverError where somebody has seized
  // it. Opens the file anew, since a network file system may only then look at what others did.
  void check() const;

  // Who had it and did not let go orderly: it died, or its machine did.
  const std::optional<LockHolder>& died_before() const { return died_before_; }

 private:
  FileLock(std::string path, FileDescriptor file, std::uint64_t epoch, std::optional<LockHolder> died_before)
      : path_(std::move(path)), file_(std::move(file)), epoch_(epoch), died_before_(std::move(died_before)) {}

  std::string path_;
  FileDescriptor file_;
  std::uint64_t epoch_ = 0;
  std::optional<LockHolder> died_before_;
};

// What a lock file says to others, without taking it.
struct LockState {
  bool held = false;
  std::optional<LockHolder> holder;  // who has it, or where !held: who died with it
  Micros heard_of = 0;               // when its holder last said that it is alive, by the file system's clock
};
// All of it empty where there is no lock file.
LockState probe_lock(const std::string& path);

}  // namespace godwit::store
