#include "godwit/store/lock.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "godwit/store/atomic_file.h"
#include "godwit/store/test_folder.h"

namespace godwit::store {
namespace {

// A child that takes the lock and keeps it until killed.
class Child {
 public:
  explicit Child(const std::string& path) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const FileLock lock = FileLock::acquire(path, "child");
      [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST_CASE("who seized a lock has it, and who had it is told at its next check") {
  const TestFolder folder;
  const FileLock first = FileLock::acquire(folder / "lock", "first");
  first.check();
  CHECK(probe_lock(folder / "lock").heard_of > 0);
  {
    const FileLock second = FileLock::seize(folder / "lock", "second");
    second.check();
    CHECK(second.died_before()->command == "first");
    CHECK(probe_lock(folder / "lock").held);
    CHECK(probe_lock(folder / "lock").holder->command == "second");
    CHECK_THROWS_AS(first.check(), TakenOverError);
    CHECK_THROWS_AS(FileLock::acquire(folder / "lock", "third"), LockedError);
  }
  // Who it was is told after he has let go, too.
  CHECK_THROWS_WITH_AS(first.check(), doctest::Contains("(second, since"), TakenOverError);
  CHECK_FALSE(probe_lock(folder / "lock").held);
  CHECK_FALSE(FileLock::acquire(folder / "lock", "third").died_before());
}

TEST_CASE("each seizure counts, and nobody else does") {
  const TestFolder folder;
  const auto epoch = [&] { return probe_lock(folder / "lock").holder->epoch; };
  {
    const FileLock lock = FileLock::acquire(folder / "lock", "first");
    CHECK(epoch() == 0);
  }
  {
    const FileLock lock = FileLock::seize(folder / "lock", "second");
    CHECK(epoch() == 1);
  }
  const FileLock third = FileLock::acquire(folder / "lock", "third");
  CHECK(epoch() == 1);
  const FileLock fourth = FileLock::seize(folder / "lock", "fourth");
  CHECK(epoch() == 2);
  // As where a server gave the number of the file that is gone to the new one.
  std::ofstream(folder / "lock") << R"({"holds":1,"host":"elsewhere","pid":4711,"user":"ada","epoch":3})";
  CHECK_THROWS_WITH_AS(fourth.check(), doctest::Contains("process 4711 of ada on elsewhere"), TakenOverError);
}

TEST_CASE("where other hosts may have the file system mounted, one that did not let go is believed") {
  const TestFolder folder;
  std::ofstream(folder / "lock")
      << R"({"host":"elsewhere","pid":4711,"user":"ada","command":"godwit run","since_us":1})";
  CHECK_THROWS_WITH_AS(FileLock::acquire(folder / "lock", "here", true),
                       doctest::Contains("process 4711 of ada on elsewhere"), LockedError);
  CHECK_THROWS_WITH_AS(FileLock::acquire(folder / "lock", "here", true), doctest::Contains("godwit take-over"),
                       LockedError);
  {
    const FileLock lock = FileLock::seize(folder / "lock", "here");
  }
  {
    const FileLock lock = FileLock::acquire(folder / "lock", "here", true);
  }
  // On a file system of this host alone, the kernel's lock says that it is dead.
  std::ofstream(folder / "lock") << R"({"host":"elsewhere","pid":4711})";
  CHECK(FileLock::acquire(folder / "lock", "here").died_before()->host == "elsewhere");
}

TEST_CASE("a second holder is told who has the lock") {
  const TestFolder folder;
  const Child child(folder / "lock");
  try {
    FileLock::acquire(folder / "lock", "second");
    FAIL("two holders");
  } catch (const LockedError& error) {
    CHECK(error.holder().pid == child.pid());
    CHECK(error.holder().command == "child");
    const LockHolder self = this_process("");
    CHECK(std::string(error.what()).find(fmt::format("{} of {} on {}", child.pid(), self.user, self.host)) !=
          std::string::npos);
  }
  const LockState state = probe_lock(folder / "lock");
  CHECK(state.held);
  REQUIRE(state.holder);
  CHECK(state.holder->pid == child.pid());
  CHECK(is_alive(*state.holder) == true);
}

TEST_CASE("one process cannot take it twice either") {
  const TestFolder folder;
  const FileLock lock = FileLock::acquire(folder / "lock", "first");
  CHECK_THROWS_AS(FileLock::acquire(folder / "lock", "second"), LockedError);
  SUBCASE("not even where the disk was too full to note who has it") {
    std::filesystem::resize_file(folder / "lock", 0);
    CHECK_THROWS_WITH_AS(FileLock::acquire(folder / "lock", "second"), doctest::Contains("another process"),
                         LockedError);
  }
}

TEST_CASE("a lock whose holder died is free, and says who died") {
  const TestFolder folder;
  Child child(folder / "lock");
  const pid_t pid = child.pid();
  child.kill();
  const LockState state = probe_lock(folder / "lock");
  CHECK_FALSE(state.held);
  REQUIRE(state.holder);
  CHECK(state.holder->pid == pid);
  CHECK(is_alive(*state.holder) == false);
  const FileLock lock = FileLock::acquire(folder / "lock", "next");
  REQUIRE(lock.died_before());
  CHECK(lock.died_before()->pid == pid);
}

TEST_CASE("a lock that was let go says nothing of its holder") {
  const TestFolder folder;
  {
    const FileLock lock = FileLock::acquire(folder / "lock", "first");
  }
  CHECK_FALSE(probe_lock(folder / "lock").held);
  CHECK_FALSE(probe_lock(folder / "lock").holder);
  CHECK_FALSE(FileLock::acquire(folder / "lock", "second").died_before());
}

TEST_CASE("a moved lock is let go once") {
  const TestFolder folder;
  FileLock first = FileLock::acquire(folder / "lock", "first");
  {
    const FileLock moved = std::move(first);
    CHECK(probe_lock(folder / "lock").held);
  }
  CHECK_FALSE(probe_lock(folder / "lock").held);
}

TEST_CASE("no lock file: nobody has it") {
  const TestFolder folder;
  CHECK_FALSE(probe_lock(folder / "lock").held);
  CHECK_FALSE(probe_lock(folder / "no/folder/lock").held);
}

TEST_CASE("a lock file with torn content is free") {
  const TestFolder folder;
  write_file(folder / "lock", "{\"host\":\"lo");
  CHECK_FALSE(probe_lock(folder / "lock").held);
  CHECK_FALSE(FileLock::acquire(folder / "lock", "next").died_before());
}

TEST_CASE("whether a holder is alive") {
  LockHolder holder = this_process("test");
  CHECK(is_alive(holder) == true);
  SUBCASE("the pid has another owner") {
    ++holder.start_time;
    CHECK(is_alive(holder) == false);
  }
  SUBCASE("the machine was booted since") {
    holder.boot_id = "another";
    CHECK(is_alive(holder) == false);
  }
  SUBCASE("another host cannot be asked") {
    holder.host = "elsewhere";
    CHECK(is_alive(holder) == std::nullopt);
  }
}

}  // namespace
}  // namespace godwit::store
