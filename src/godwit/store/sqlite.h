// SQLite with values and RAII: a Database owns its connection and a cache of prepared statements; a Statement
// borrowed from it binds, steps and resets itself.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "godwit/base/error.h"

namespace godwit::store {

// SQLite said no: the message names the file, what was tried and SQLite's own words.
class DatabaseError : public Error {
 public:
  DatabaseError(const std::string& message, int code, int system_errno)
      : Error(message), code_(code), system_errno_(system_errno) {}
  // SQLite's extended result code.
  int code() const { return code_; }
  // errno of the failed system call, 0 where there was none.
  int system_errno() const { return system_errno_; }
  // No room on the disk or in the quota: nothing is damaged, trying again later can succeed.
  bool disk_full() const;
  // The file is something else than a database.
  bool no_database() const;
  // The file is not a database, or a damaged one.
  bool damaged() const;

 private:
  int code_;
  int system_errno_;
};

class Statement;

class Database {
 public:
  enum class Mode {
    read_only,   // the file must be there
    immutable,   // read-only, and promised not to change: needs no lock, no -shm and no -wal file
    read_write,  // the file must be there
    create,      // made where absent
  };

  // `vfs` names a registered SQLite VFS (tests inject faults with one); empty: the default. Throws DatabaseError.
  Database(std::string path, Mode mode, const std::string& vfs = {});
  ~Database();
  Database(Database&& other) noexcept = default;
  Database& operator=(Database&& other) noexcept = default;

  const std::string& path() const { return path_; }
  // How long a call waits for another process's lock.
  void set_busy_timeout_ms(int milliseconds);
  // Runs one or more statements and drops their rows.
  void execute(const std::string& sql);
  // The single integer or text that a query gives: a PRAGMA, a count. 0 or "" where it gives no row.
  std::int64_t query_integer(const std::string& sql);
  std::string query_text(const std::string& sql);
  // A statement, prepared once per text. It must be finished with (destroyed) before the same text is asked for
  // again.
  Statement prepare(std::string_view sql);
  // Every way out of a transaction that threw; does nothing where SQLite has rolled back by itself.
  void roll_back() noexcept;

 private:
  friend class Statement;
  [[noreturn]] void fail(const std::string& what, int code) const;

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
  // After handle_, so that statements go before their connection.
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// A prepared statement in use. Parameters and columns count from 0.
class Statement {
 public:
  Statement(Statement&& other) noexcept : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement() { reset(); }

  Statement& bind(int parameter, std::int64_t value);
  // The text must stay alive and unchanged until the next reset().
  Statement& bind(int parameter, std::string_view value);
  // True where there is a row. Throws DatabaseError.
  bool step();
  // Ready to bind and step again.
  void reset();

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  double real(int column) const { return sqlite3_column_double(handle_, column); }
  // Valid until the next step() or reset().
  std::string_view text(int column) const;

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}

  Database* database_;
  sqlite3_stmt* handle_;
};

// BEGIN IMMEDIATE … COMMIT; rolled back where commit() was not reached.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }
  ~Transaction() {
    if (!committed_) database_.roll_back();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    database_.execute("COMMIT");
    committed_ = true;
  }

 private:
  Database& database_;
  bool committed_ = false;
};

}  // namespace godwit::store
