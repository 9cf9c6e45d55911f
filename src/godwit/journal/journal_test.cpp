#include "godwit/journal/journal.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/store/atomic_file.h"
#include "godwit/store/lock.h"
#include "godwit/store/sqlite.h"
#include "godwit/store/test_folder.h"
#include "godwit/store/test_vfs.h"

namespace fs = std::filesystem;

namespace godwit::journal {
namespace {

using store::TestFolder;

Event event(Kind kind, std::string node = {}, std::uint32_t attempt = 0, std::string json = {}) {
  return {0, 1'700'000'000'000'000, kind, std::move(node), attempt, std::move(json)};
}

// One line per event: "seq kind node attempt json".
template <typename Source>
std::vector<std::string> lines(Source& source, std::int64_t after = 0) {
  std::vector<std::string> out;
  source.replay(after, [&](const Event& e) {
    out.push_back(fmt::format("{} {} {} {} {}", e.seq, to_string(e.kind), e.node, e.attempt, e.json));
  });
  return out;
}

std::vector<std::string> lines_of(const std::string& path, std::int64_t after = 0) {
  return lines(*Reader::open(path), after);
}

// Runs fn in another process, which then dies by SIGKILL with whatever it had open.
template <typename Fn>
void in_process_that_dies(Fn fn) {
  const pid_t child = ::fork();
  if (child == 0) {
    fn();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

void write_one(const std::string& path, const Options& options = {}) {
  const auto journal = Journal::open(path, options);
  journal->append(event(Kind::node_done, "a", 1, "{}"));
  REQUIRE(journal->commit());
}

TEST_CASE("every kind has a name of its own that leads back to it") {
  std::size_t kinds = 0;
  for (int number = 0; number < 256; ++number) {
    const Kind kind = static_cast<Kind>(number);
    if (to_string(kind) == "unknown") continue;
    ++kinds;
    CHECK(kind_from(to_string(kind)) == kind);
  }
  CHECK(kinds == 32);
  CHECK(kind_from("nonsense") == std::nullopt);
}

TEST_CASE("what is committed is read back in order, by the writer and by a reader beside it") {
  for (const bool network : {false, true}) {
    CAPTURE(network);
    const TestFolder folder;
    const std::string path = folder / "journal.db";
    Options options;
    options.network_file_system = network;
    const auto journal = Journal::open(path, options);
    journal->append(event(Kind::dag, "", 0, R"({"name":"ä"})"));
    journal->append(event(Kind::submitting, "run0-train_epoch0", 1, R"({"phase":"job"})"));
    REQUIRE(journal->commit());
    journal->append(event(Kind::node_done, "run0-train_epoch0", 1));
    const std::vector<std::string> two = {R"(1 dag  0 {"name":"ä"})",
                                          R"(2 submitting run0-train_epoch0 1 {"phase":"job"})"};
    CHECK(lines(*journal) == two);
    const auto reader = Reader::open(path);
    CHECK(lines(*reader) == two);
    REQUIRE(journal->commit(true));
    CHECK(lines(*reader, 2) == std::vector<std::string>{"3 node_done run0-train_epoch0 1 "});
    CHECK(lines(*reader, 3).empty());
    CHECK(fs::exists(path + "-wal") == !network);
  }
}

TEST_CASE("a journal goes on where the last writer ended") {
  const TestFolder folder;
  for (int i = 0; i < 3; ++i) write_one(folder / "journal.db");
  CHECK(lines_of(folder / "journal.db", 1) == std::vector<std::string>{"2 node_done a 1 {}", "3 node_done a 1 {}"});
}

TEST_CASE("what was appended and not committed is gone with its writer") {
  const TestFolder folder;
  {
    const auto journal = Journal::open(folder / "journal.db");
    journal->append(event(Kind::node_done, "a"));
  }
  CHECK(lines_of(folder / "journal.db").empty());
}

TEST_CASE("more events than are read in one go") {
  const TestFolder folder;
  const auto journal = Journal::open(folder / "journal.db");
  constexpr int kEvents = 50'000;
  for (int i = 0; i < kEvents; ++i) journal->append(event(Kind::node_done, std::to_string(i)));
  REQUIRE(journal->commit());
  std::int64_t expected = 0;
  bool in_order = true;
  journal->replay(0, [&](const Event& e) { in_order = in_order && e.seq == ++expected; });
  CHECK(in_order);
  CHECK(expected == kEvents);
}

TEST_CASE("a second writer is refused with the first one's host and process") {
  const TestFolder folder;
  const auto journal = Journal::open(folder / "journal.db");
  try {
    Journal::open(folder / "journal.db");
    FAIL("two writers");
  } catch (const InputError& error) {
    const store::LockHolder self = store::this_process("");
    const std::string holder = fmt::format("process {} of {} on {}", ::getpid(), self.user, self.host);
    CHECK(std::string(error.what()).find(holder) != std::string::npos);
  }
  CHECK(store::probe_lock(writer_lock(folder / "journal.db")).held);
}

TEST_CASE("a writer that was taken over from writes nothing more") {
  const TestFolder folder;
  const std::string path = folder / "journal.db";
  const auto first = Journal::open(path);
  first->append(event(Kind::node_done, "a", 1, "{}"));
  REQUIRE(first->commit());
  first->beat();
  first->append(event(Kind::node_done, "late", 1, "{}"));
  {
    const auto second =
        Journal::open(path, {.command = "second", .take_over = true, .vfs = {}, .network_file_system = {}});
    second->append(event(Kind::taken_over, "", 0, "{}"));
    REQUIRE(second->commit(true));
  }
  CHECK_THROWS_AS(std::ignore = first->commit(), store::TakenOverError);
  CHECK_THROWS_AS(first->beat(), store::TakenOverError);
  std::vector<std::string> nodes;
  Reader::open(path)->replay(0, [&](const Event& each) { nodes.push_back(each.node); });
  CHECK(nodes == std::vector<std::string>{"a", ""});
}

TEST_CASE("a full disk loses nothing: the events wait in memory") {
  for (const bool network : {false, true}) {
    CAPTURE(network);
    const TestFolder folder;
    Options options;
    options.vfs = store::FullDiskVfs::name();
    options.network_file_system = network;
    const auto journal = Journal::open(folder / "journal.db", options);
    journal->append(event(Kind::node_done, "a"));
    REQUIRE(journal->commit());
    store::FullDiskVfs::set_full(true);
    journal->append(event(Kind::node_done, "b"));
    CHECK_FALSE(journal->commit());
    journal->append(event(Kind::node_done, "c"));
    CHECK_FALSE(journal->commit(true));
    CHECK(lines_of(folder / "journal.db").size() == 1);
    store::FullDiskVfs::set_full(false);
    REQUIRE(journal->commit());
    CHECK(lines_of(folder / "journal.db") ==
          std::vector<std::string>{"1 node_done a 0 ", "2 node_done b 0 ", "3 node_done c 0 "});
  }
}

TEST_CASE("after a writer died, readers and the next writer find what it had committed") {
  for (const bool network : {false, true}) {
    CAPTURE(network);
    const TestFolder folder;
    const std::string path = folder / "journal.db";
    Options options;
    options.network_file_system = network;
    in_process_that_dies([&] {
      auto* journal = Journal::open(path, options).release();  // never closed
      journal->append(event(Kind::node_done, "a", 1, "{}"));
      if (!journal->commit()) ::_exit(1);
      journal->append(event(Kind::node_done, "b", 1, "{}"));
    });
    CHECK(store::probe_lock(writer_lock(path)).held == false);
    CHECK(lines_of(path) == std::vector<std::string>{"1 node_done a 1 {}"});
    write_one(path, options);
    CHECK(lines_of(path).size() == 2);
  }
}

TEST_CASE("a writer that died in the middle of a commit leaves none of it") {
  const TestFolder folder;
  const std::string path = folder / "journal.db";
  Options options;
  options.network_file_system = true;  // a hot rollback journal is what a reader must cope with
  write_one(path, options);
  in_process_that_dies([&] {
    static store::Database database(path, store::Database::Mode::read_write);
    database.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE");
    for (int i = 2; i < 2000; ++i)
      database.execute(fmt::format("INSERT INTO event VALUES({}, 0, 'node_done', 'x', 1, '{{}}')", i));
  });
  REQUIRE(fs::file_size(path + "-journal") > 0);
  CHECK(lines_of(path) == std::vector<std::string>{"1 node_done a 1 {}"});
}

TEST_CASE("damage is found when the last writer did not end orderly") {
  const TestFolder folder;
  const std::string path = folder / "journal.db";
  {
    const auto journal = Journal::open(path);
    for (int i = 0; i < 2000; ++i) journal->append(event(Kind::warning, "", 0, std::string(100, 'x')));
    REQUIRE(journal->commit());
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff{4096} * 10);
    file << std::string(8192, '\xff');
  }
  in_process_that_dies(
      [&] { static const store::FileLock lock = store::FileLock::acquire(writer_lock(path), "dies"); });
  CHECK_THROWS_WITH_AS(Journal::open(path), doctest::Contains("damaged"), Error);
}

TEST_CASE("what is no journal of ours is refused") {
  const TestFolder folder;
  const std::string path = folder / "journal.db";
  const char* expected = nullptr;
  SUBCASE("a newer format") {
    write_one(path);
    store::Database(path, store::Database::Mode::read_write).execute("PRAGMA user_version = 2");
    expected = "newer Godwit";
  }
  SUBCASE("another program's database") {
    store::Database(path, store::Database::Mode::create).execute("CREATE TABLE bookmarks(url)");
    expected = "not a Godwit journal";
  }
  SUBCASE("a text file") {
    store::write_file(path, std::string(10'000, 'x'));
    expected = "not a database";
  }
  CHECK_THROWS_WITH_AS(Journal::open(path), doctest::Contains(expected), Error);
  CHECK_THROWS_WITH_AS(Reader::open(path), doctest::Contains(expected), Error);
}

TEST_CASE("reading where nothing has been run") {
  const TestFolder folder;
  CHECK_THROWS_AS(Reader::open(folder / "journal.db"), InputError);
  store::write_file(folder / "journal.db", "");
  CHECK_THROWS_WITH_AS(Reader::open(folder / "journal.db"), doctest::Contains("nothing has been run"), InputError);
}

TEST_CASE("a kind of a later version is passed over") {
  const TestFolder folder;
  const std::string path = folder / "journal.db";
  write_one(path);
  store::Database(path, store::Database::Mode::read_write)
      .execute("INSERT INTO event VALUES(2, 0, 'teleported', 'a', 1, '{}')");
  write_one(path);
  CHECK(lines_of(path) == std::vector<std::string>{"1 node_done a 1 {}", "3 node_done a 1 {}"});
}

// Runs fn as a user without rights, in a process of its own. True where fn returned true.
template <typename Fn>
bool as_nobody(Fn fn) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
    bool good = false;
    try {
      good = fn();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("in a folder that cannot be written") {
  const TestFolder folder;
  const std::string path = folder / "journal.db";
  bool readable = true;
  SUBCASE("a finished journal is read as it lies") {
    write_one(path);
  }
  SUBCASE("a dead writer's log is said to be in the way") {
    in_process_that_dies([&] {
      auto* journal = Journal::open(path).release();
      journal->append(event(Kind::node_done, "a", 1, "{}"));
      if (!journal->commit()) ::_exit(1);
    });
    fs::remove(path + "-shm");
    readable = false;
  }
  ::chmod(folder.path().c_str(), 0555);
  CHECK(as_nobody([&] {
    try {
      return lines_of(path) == std::vector<std::string>{"1 node_done a 1 {}"} && readable;
    } catch (const InputError& error) {
      return !readable && std::string(error.what()).find("copy the folder") != std::string::npos;
    }
  }));
  ::chmod(folder.path().c_str(), 0755);
}

}  // namespace
}  // namespace godwit::journal
