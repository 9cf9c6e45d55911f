#include "godwit/store/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "godwit/store/file_descriptor.h"

namespace godwit::store {
namespace {

int open_flags(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::read_only:
    case Database::Mode::immutable:
      return SQLITE_OPEN_READONLY;
    case Database::Mode::read_write:
      return SQLITE_OPEN_READWRITE;
    case Database::Mode::create:
      break;
  }
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

// A path as the URI that SQLite reads options from: everything but plain characters is written %XX.
std::string as_uri(std::string_view path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '-' || c == '_' || c == '.';
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace

bool DatabaseError::disk_full() const {
  return (code_ & 0xff) == SQLITE_FULL || system_errno_ == ENOSPC || system_errno_ == EDQUOT;
}

bool DatabaseError::no_database() const {
  return (code_ & 0xff) == SQLITE_NOTADB;
}

bool DatabaseError::damaged() const {
  return (code_ & 0xff) == SQLITE_CORRUPT || (code_ & 0xff) == SQLITE_NOTADB;
}

Database::Database(std::string path, Mode mode, const std::string& vfs) : path_(std::move(path)) {
  std::string uri = as_uri(path_);
  if (mode == Mode::immutable) uri += "?immutable=1";
  // SQLite makes files that their group may not write, whatever the umask says. An empty file is an empty database.
  if (mode == Mode::create && vfs.empty()) FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, open_flags(mode) | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  handle_.reset(handle);  // there even where opening failed: it holds the message
  if (code != SQLITE_OK) fail("cannot open", code);
  sqlite3_extended_result_codes(handle, 1);
}

Database::~Database() = default;

void Database::set_busy_timeout_ms(int milliseconds) {
  sqlite3_busy_timeout(handle_.get(), milliseconds);
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(sql, code);
}

std::int64_t Database::query_integer(const std::string& sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::query_text(const std::string& sql) {
  Statement statement = prepare(sql);
  return statement.step() ? std::string(statement.text(0)) : std::string();
}

Statement Database::prepare(std::string_view sql) {
  auto [entry, fresh] = statements_.try_emplace(std::string(sql));
  if (fresh) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) {
      statements_.erase(entry);
      fail(std::string(sql), code);
    }
    entry->second.reset(handle);
  }
  return Statement(*this, entry->second.get());
}

void Database::roll_back() noexcept {
  // SQLite ends the transaction by itself at some faults (a full disk among them); then there is nothing to do,
  // and a rollback that fails leaves the next BEGIN to report it.
  if (sqlite3_get_autocommit(handle_.get()) == 0) sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::fail(const std::string& what, int code) const {
  const int extended = handle_ ? sqlite3_extended_errcode(handle_.get()) : code;
  const int system = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  const bool by_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const char* words = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  std::string message = fmt::format("{}: {}: {}", path_, what, words);
  if (by_system && system != 0) message = SystemError(message, system).what();
  throw DatabaseError(message, (extended & 0xff) == (code & 0xff) ? extended : code, by_system ? system : 0);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(handle_, parameter + 1, value);
  if (code != SQLITE_OK) database_->fail("bind", code);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view value) {
  const char* text = value.data() == nullptr ? "" : value.data();
  const int code = sqlite3_bind_text64(handle_, parameter + 1, text, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) database_->fail("bind", code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const std::string sql = sqlite3_sql(handle_);
  database_->fail(sql, code);
}

void Statement::reset() {
  // What step() reported, sqlite3_reset reports again: nothing new in its result.
  if (handle_ != nullptr) sqlite3_reset(handle_);
}

std::string_view Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(handle_, column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

}  // namespace godwit::store
