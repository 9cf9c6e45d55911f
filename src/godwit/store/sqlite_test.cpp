#include "godwit/store/sqlite.h"

#include <doctest/doctest.h>

#include "godwit/store/atomic_file.h"
#include "godwit/store/mount.h"
#include "godwit/store/test_folder.h"

namespace godwit::store {
namespace {

TEST_CASE("rows go in and come out, by a statement prepared once") {
  const TestFolder folder;
  // A name with every character that a URI gives a meaning to.
  Database database(folder / "a?b=c#d%20 é.db", Database::Mode::create);
  database.execute("CREATE TABLE t(n INTEGER, s TEXT)");
  {
    Transaction transaction(database);
    for (int i = 0; i < 100; ++i) {
      Statement insert = database.prepare("INSERT INTO t VALUES(?, ?)");
      insert.bind(0, i).bind(1, std::string_view("a\0b", 3)).step();
    }
    transaction.commit();
  }
  CHECK(database.query_integer("SELECT sum(n) FROM t") == 4950);
  Statement select = database.prepare("SELECT n, s FROM t ORDER BY n DESC");
  REQUIRE(select.step());
  CHECK(select.integer(0) == 99);
  CHECK(select.text(1) == std::string_view("a\0b", 3));
  CHECK(std::filesystem::exists(folder / "a?b=c#d%20 é.db"));
}

TEST_CASE("a transaction that is left by an exception leaves nothing") {
  const TestFolder folder;
  Database database(folder / "a.db", Database::Mode::create);
  database.execute("CREATE TABLE t(n)");
  CHECK_THROWS_AS(
      {
        Transaction transaction(database);
        database.execute("INSERT INTO t VALUES(1)");
        database.execute("INSERT INTO nowhere VALUES(1)");
      },
      DatabaseError);
  CHECK(database.query_integer("SELECT count(*) FROM t") == 0);
}

TEST_CASE("errors say which file, what was tried and why") {
  const TestFolder folder;
  SUBCASE("no such file") {
    CHECK_THROWS_AS(Database(folder / "none.db", Database::Mode::read_only), DatabaseError);
    CHECK_THROWS_AS(Database(folder / "none.db", Database::Mode::read_write), DatabaseError);
    CHECK_FALSE(std::filesystem::exists(folder / "none.db"));
  }
  SUBCASE("not a database") {
    write_file(folder / "text.db", std::string(4096, 'x'));
    Database database(folder / "text.db", Database::Mode::read_only);
    try {
      database.query_integer("SELECT count(*) FROM t");
      FAIL("read a text file as a database");
    } catch (const DatabaseError& error) {
      CHECK(error.damaged());
      CHECK_FALSE(error.disk_full());
      CHECK(std::string(error.what()).find("text.db") != std::string::npos);
    }
  }
  SUBCASE("no room") {
    Database database(folder / "small.db", Database::Mode::create);
    database.execute("CREATE TABLE t(s)");
    database.execute("PRAGMA max_page_count = 4");
    try {
      database.execute("INSERT INTO t VALUES(zeroblob(100000))");
      FAIL("a small file took a large row");
    } catch (const DatabaseError& error) {
      CHECK(error.disk_full());
    }
  }
  SUBCASE("a statement that is none, twice") {
    Database database(folder / "a.db", Database::Mode::create);
    CHECK_THROWS_AS(database.prepare("SELEKT 1"), DatabaseError);
    CHECK_THROWS_AS(database.prepare("SELEKT 1"), DatabaseError);
  }
}

TEST_CASE("file systems that machines share are known by their magic") {
  struct Case {
    const char* name;
    unsigned long magic;
    bool network;
  };
  for (const Case& c : {Case{"nfs", 0x6969, true}, Case{"lustre", 0x0BD00BD0, true}, Case{"gpfs", 0x47504653, true},
                        Case{"cifs", 0xFF534D42, true}, Case{"fuse", 0x65735546, true}, Case{"ext4", 0xEF53, false},
                        Case{"xfs", 0x58465342, false}, Case{"tmpfs", 0x01021994, false},
                        Case{"overlay", 0x794C7630, false}, Case{"btrfs", 0x9123683E, false}}) {
    CAPTURE(c.name);
    CHECK(is_network_magic(c.magic) == c.network);
  }
  CHECK_FALSE(on_network_file_system("/proc"));
  CHECK_THROWS_AS(on_network_file_system("/no/such/path"), SystemError);
}

}  // namespace
}  // namespace godwit::store
