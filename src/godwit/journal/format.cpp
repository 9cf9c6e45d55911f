#include "godwit/journal/format.h"

#include <fmt/format.h>

#include "godwit/journal/journal.h"

namespace godwit::journal {
namespace {

constexpr std::int64_t kApplicationId = 0x47445754;

// Rows read in one go: a reader's snapshot must not live long, since the log cannot be folded in past it.
constexpr std::int64_t kRowsPerRead = 16'384;

}  // namespace

bool check_format(store::Database& database) {
  const std::int64_t application = database.query_integer("PRAGMA application_id");
  const std::int64_t format = database.query_integer("PRAGMA user_version");
  if (application == 0 && format == 0 && database.query_integer("SELECT count(*) FROM sqlite_master") == 0)
    return false;
  if (application != kApplicationId)
    throw InputError(database.path() + " is not a Godwit journal",
                     "put the journal back in its place, or name another file");
  if (format > kFormat)
    throw InputError(fmt::format("{} was written by a newer Godwit: its format is {}, this version reads up to {}",
                                 database.path(), format, kFormat),
                     "use the version of Godwit that started this experiment, or a newer one");
  return true;
}

void create_format(store::Database& database) {
  store::Transaction transaction(database);
  database.execute(
      "CREATE TABLE event(seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, kind TEXT NOT NULL,"
      " node TEXT NOT NULL, attempt INTEGER NOT NULL, json TEXT NOT NULL)");
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", kFormat));
  transaction.commit();
}

void replay(store::Database& database, std::int64_t after_seq, const std::function<void(const Event&)>& fn) {
  Event event;
  for (std::int64_t rows = kRowsPerRead; rows == kRowsPerRead;) {
    rows = 0;
    store::Statement select = database.prepare(
        "SELECT seq, time_us, kind, node, attempt, json FROM event WHERE seq > ? ORDER BY seq LIMIT ?");
    select.bind(0, after_seq).bind(1, kRowsPerRead);
    while (select.step()) {
      ++rows;
      after_seq = select.integer(0);
      const std::optional<Kind> kind = kind_from(select.text(2));
      if (!kind) continue;
      event.seq = after_seq;
      event.time = select.integer(1);
      event.kind = *kind;
      event.node = select.text(3);
      event.attempt = static_cast<std::uint32_t>(select.integer(4));
      event.json = select.text(5);
      fn(event);
    }
  }
}

void throw_explained(const store::DatabaseError& error) {
  if (error.no_database())
    throw InputError(
        fmt::format("the journal has been overwritten: {}", error.what()),
        "put a copy of journal.db back: it alone knows what is finished, and without it everything would be computed "
        "again");
  if (!error.damaged()) throw Error(error.what());
  throw Error(fmt::format("the journal is damaged: {}", error.what()),
              "keep a copy of its folder; what can still be read is salvaged by: sqlite3 journal.db .recover");
}

}  // namespace godwit::journal
