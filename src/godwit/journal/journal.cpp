#include "godwit/journal/journal.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "godwit/journal/format.h"
#include "godwit/store/lock.h"
#include "godwit/store/mount.h"
#include "godwit/store/sqlite.h"

namespace godwit::journal {
namespace {

// Readers hold a rollback journal's lock for moments only.
constexpr int kBusyTimeoutMs = 30'000;

// The log is folded in, which syncs both files, each 16 MB (of 4 KB pages) instead of each 4.
constexpr int kLogPages = 4096;

class SqliteJournal final : public Journal {
 public:
  SqliteJournal(store::FileLock lock, store::Database database, bool network)
      : lock_(std::move(lock)), database_(std::move(database)) {
    database_.set_busy_timeout_ms(kBusyTimeoutMs);
    const bool written = check_format(database_);
    choose_log(network);
    if (!written) create_format(database_);
    if (lock_.died_before()) check_integrity();
    last_seq_ = database_.query_integer("SELECT max(seq) FROM event");
  }

  void append(Event event) override { pending_.push_back(std::move(event)); }

  bool commit(bool full_sync) override {
    if (pending_.empty()) return true;
    try {
      set_full_sync(full_sync);
      store::Transaction transaction(database_);
      insert_pending();
      transaction.commit();
    } catch (const store::DatabaseError& error) {
      if (error.disk_full()) return false;
      lock_.check();
      throw_explained(error);
    }
    last_seq_ += static_cast<std::int64_t>(pending_.size());
    pending_.clear();
    return true;
  }

  void beat() override { lock_.check(); }

  void replay(std::int64_t after_seq, const std::function<void(const Event&)>& fn) override {
    try {
      journal::replay(database_, after_seq, fn);
    } catch (const store::DatabaseError& error) {
      throw_explained(error);
    }
  }

 private:
  // WAL needs memory shared by all who have the file open. Without it every commit is synced by itself.
  void choose_log(bool network) {
    wal_ = !network && database_.query_text("PRAGMA journal_mode = WAL") == "wal";
    if (!wal_) database_.execute("PRAGMA journal_mode = TRUNCATE");
    database_.execute(wal_ ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    database_.execute(fmt::format("PRAGMA wal_autocheckpoint = {}", kLogPages));
  }

  void set_full_sync(bool full_sync) {
    if (!wal_ || full_sync == full_sync_) return;
    database_.execute(full_sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    full_sync_ = full_sync;
  }

  void check_integrity() {
    const std::string found = database_.query_text("PRAGMA quick_check(1)");
    if (found == "ok") return;
    throw_explained(store::DatabaseError(database_.path() + ": " + found, SQLITE_CORRUPT, 0));
  }

  void insert_pending() {
    store::Statement insert = database_.prepare("INSERT INTO event VALUES(?, ?, ?, ?, ?, ?)");
    std::int64_t seq = last_seq_;
    for (const Event& event : pending_) {
      insert.bind(0, ++seq).bind(1, event.time).bind(2, to_string(event.kind)).bind(3, event.node);
      insert.bind(4, std::int64_t{event.attempt}).bind(5, event.json).step();
      insert.reset();
    }
  }

  store::FileLock lock_;
  store::Database database_;
  std::vector<Event> pending_;
  std::int64_t last_seq_ = 0;
  bool wal_ = false;
  bool full_sync_ = false;
};

bool on_network(const std::string& path, const Options& options) {
  if (options.network_file_system) return *options.network_file_system;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return store::on_network_file_system(folder.empty() ? "." : folder);
}

}  // namespace

std::string writer_lock(const std::string& path) {
  return path + ".lock";
}

std::unique_ptr<Journal> Journal::open(const std::string& path, const Options& options) {
  const bool network = on_network(path, options);
  store::FileLock lock = options.take_over ? store::FileLock::seize(writer_lock(path), options.command)
                                           : store::FileLock::acquire(writer_lock(path), options.command, network);
  try {
    store::Database database(path, store::Database::Mode::create, options.vfs);
    return std::make_unique<SqliteJournal>(std::move(lock), std::move(database), network);
  } catch (const store::DatabaseError& error) {
    throw_explained(error);
  }
}

}  // namespace godwit::journal
