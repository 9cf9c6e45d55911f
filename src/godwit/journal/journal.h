// The append-only record of everything that happened to a Dag: one SQLite table with one writer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "godwit/journal/event.h"

namespace godwit::journal {

// Writes. Events are buffered by append() and become durable together in commit(): the events of one turn of the
// engine's loop commit before their actions start.
class Journal {
 public:
  // Opens or creates. Takes the writer's lock. Throws InputError where another engine has it (naming host and pid) or
  // where the file is of a newer format, and Error where integrity fails.
  static std::unique_ptr<Journal> open(const std::string& path);
  virtual ~Journal() = default;

  virtual void append(Event event) = 0;
  // False where the disk is full: nothing is lost, the events stay buffered, try again. `full_sync` before anything is
  // spent. Throws Error at any other fault.
  [[nodiscard]] virtual bool commit(bool full_sync = false) = 0;
  // Every committed event from `after_seq` on, in order.
  virtual void replay(std::int64_t after_seq, const std::function<void(const Event&)>& fn) = 0;
};

// Reads while another process writes.
class Reader {
 public:
  // Throws InputError where there is no journal.
  static std::unique_ptr<Reader> open(const std::string& path);
  virtual ~Reader() = default;
  virtual void replay(std::int64_t after_seq, const std::function<void(const Event&)>& fn) = 0;
};

}  // namespace godwit::journal
