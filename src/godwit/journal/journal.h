// The append-only record of everything that happened to a Dag: one SQLite table with one writer.
//
// Format 1: table event(seq, time_us, kind, node, attempt, json) with `kind` as text (to_string(Kind)), so that the
// sqlite3 shell reads it; application_id 0x47445754 ("GDWT"), user_version 1. A write-ahead log on local file systems,
// a rollback journal on those that machines share. An event of a kind that this version does not know is skipped when
// read: kinds are only ever added.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "godwit/journal/event.h"

namespace godwit::journal {

inline constexpr int kFormat = 1;

struct Options {
  std::string command = "godwit run";  // what the writer's lock says of its holder
  bool take_over = false;              // from whoever has the lock: what it still tries to write fails
  // Seams for tests: SQLite's VFS by name, and whether the file system is shared between machines.
  std::string vfs;
  std::optional<bool> network_file_system;
};

// Writes. Events are buffered by append() and become durable together in commit(): the events of one turn of the
// engine's loop commit before their actions start.
class Journal {
 public:
  // Opens or creates. Takes the writer's lock (the file `path`.lock). A writer whose lock was seized cannot commit: the
  // numbers of its events are taken. Throws InputError where another engine has it
  // (naming host and pid), where the file is of a newer format or no journal, and Error where integrity fails, which is
  // checked when the last writer did not end orderly.
  static std::unique_ptr<Journal> open(const std::string& path, const Options& options = {});
  virtual ~Journal() = default;

  // The time is the caller's; seq is given by commit().
  virtual void append(Event event) = 0;
  // False where the disk is full: nothing is lost, the events stay buffered, try again. `full_sync` before anything is
  // spent. Throws Error at any other fault.
  [[nodiscard]] virtual bool commit(bool full_sync = false) = 0;
  // Every committed event after `after_seq`, in order.
  virtual void replay(std::int64_t after_seq, const std::function<void(const Event&)>& fn) = 0;
  // Tells others that the writer is alive; to be called every few seconds. Throws store::TakenOverError, as commit()
  // does, where somebody else has become the writer.
  virtual void beat() {}
};

// Reads while another process writes, and after it died.
class Reader {
 public:
  // Throws InputError where there is no journal, where it is of a newer format, and where its writer died and left a
  // log that takes write permission to fold in.
  static std::unique_ptr<Reader> open(const std::string& path);
  // The same, but nothing where there is no journal, or an empty one whose engine died as it began.
  static std::unique_ptr<Reader> open_if_any(const std::string& path);
  virtual ~Reader() = default;
  // Every committed event after `after_seq`, in order.
  virtual void replay(std::int64_t after_seq, const std::function<void(const Event&)>& fn) = 0;
};

// The file whose lock the writer of the journal at `path` holds: store::probe_lock(writer_lock(path)) says whether an
// engine is at work.
std::string writer_lock(const std::string& path);

}  // namespace godwit::journal
