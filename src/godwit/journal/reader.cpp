#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "godwit/journal/format.h"
#include "godwit/journal/journal.h"
#include "godwit/store/sqlite.h"

namespace godwit::journal {
namespace {

namespace fs = std::filesystem;
using Mode = store::Database::Mode;

constexpr int kBusyTimeoutMs = 10'000;

bool has_content(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size > 0;
}

// A log beside the journal, which a writer has in use or left when it died.
bool has_log(const std::string& path) {
  return has_content(path + "-wal") || has_content(path + "-journal");
}

struct EmptyJournal : InputError {
  using InputError::InputError;
};

store::Database open_and_check(const std::string& path, Mode mode) {
  store::Database database(path, mode);
  database.set_busy_timeout_ms(kBusyTimeoutMs);
  if (!check_format(database))
    throw EmptyJournal(path + " is empty: nothing has been run yet",
                       "start with 'godwit run'; if there were results, put a copy of journal.db back first");
  return database;
}

// What reading without leave to write (of the folder, or of what a dead writer left) fails with.
bool lacks_leave_to_write(const store::DatabaseError& error) {
  const int code = error.code() & 0xff;
  return code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM;
}

class SqliteReader final : public Reader {
 public:
  explicit SqliteReader(std::string path) : path_(std::move(path)) { open(); }

  void replay(std::int64_t after_seq, const std::function<void(const Event&)>& fn) override {
    try {
      // What is read as unchanging is looked at afresh: its owner may have started an engine.
      if (immutable_) open();
      journal::replay(*database_, after_seq, fn);
    } catch (const store::DatabaseError& error) {
      throw_explained(error);
    }
  }

 private:
  // Usually a read-only connection does. What a dead writer left takes leave to write; where nothing is left and the
  // folder cannot be written (read-only media, another user's), the file is read as it lies.
  void open() {
    for (const Mode mode : {Mode::read_only, Mode::read_write, Mode::immutable}) {
      if (mode == Mode::immutable && has_log(path_)) break;
      try {
        database_.emplace(open_and_check(path_, mode));
        immutable_ = mode == Mode::immutable;
        return;
      } catch (const store::DatabaseError& error) {
        if (!lacks_leave_to_write(error)) throw;
      }
    }
    throw InputError(fmt::format("{} cannot be read here: its writer left a log that only a user who may write to "
                                 "its folder can fold in",
                                 path_),
                     "copy the folder to a place where you may write, and look at the copy");
  }

  std::string path_;
  std::optional<store::Database> database_;
  bool immutable_ = false;
};

}  // namespace

std::unique_ptr<Reader> Reader::open(const std::string& path) {
  if (!fs::exists(path)) throw InputError("there is no journal " + path, "start with 'godwit run'");
  try {
    return std::make_unique<SqliteReader>(path);
  } catch (const store::DatabaseError& error) {
    throw_explained(error);
  }
}

std::unique_ptr<Reader> Reader::open_if_any(const std::string& path) {
  if (!fs::exists(path)) return nullptr;
  try {
    return open(path);
  } catch (const EmptyJournal&) {
    return nullptr;
  }
}

}  // namespace godwit::journal
