#include "godwit/store/atomic_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/store/test_folder.h"

namespace fs = std::filesystem;

namespace godwit::store {
namespace {

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Files of this process cannot grow past `bytes` while it lives: writing fails in the middle, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  struct rlimit before_{};
  void (*handler_)(int);
};

TEST_CASE("a written file holds its content and leaves nothing beside it") {
  const TestFolder folder;
  for (const Durability durability : {Durability::process, Durability::machine}) {
    write_file(folder / "a", "first", durability);
    write_file(folder / "a", std::string("se\0cond", 7), durability);
    CHECK(read_file(folder / "a") == std::string("se\0cond", 7));
    CHECK(entries(folder.path()) == 1);
  }
}

TEST_CASE("a write that fails in the middle leaves the old content and nothing beside it") {
  const TestFolder folder;
  write_file(folder / "a", "old");
  write_file(folder / "big", std::string(100'000, 'x'));
  {
    const FileSizeLimit limit(50'000);
    CHECK_THROWS_AS(write_file(folder / "a", std::string(100'000, 'n')), SystemError);
    CHECK_THROWS_AS(copy_file(folder / "big", folder / "a"), SystemError);
  }
  CHECK(read_file(folder / "a") == "old");
  CHECK(entries(folder.path()) == 2);
}

TEST_CASE("errors carry the path and the system's code") {
  const TestFolder folder;
  try {
    write_file(folder / "missing/a", "x");
    FAIL("wrote into a missing folder");
  } catch (const SystemError& error) {
    CHECK(error.code() == ENOENT);
    CHECK(std::string(error.what()).find("missing/a") != std::string::npos);
  }
  CHECK_THROWS_AS(read_file(folder / "none"), SystemError);
  CHECK_THROWS_AS(copy_file(folder.path(), folder / "b"), SystemError);
  CHECK_THROWS_AS(copy_tree(folder / "none", folder / "b"), SystemError);
}

TEST_CASE("copying keeps permissions and modification time, and follows the source's link") {
  const TestFolder folder;
  write_file(folder / "program", std::string(300'000, 'p'));
  ::chmod((folder / "program").c_str(), 0750);
  fs::last_write_time(folder / "program", fs::file_time_type::clock::now() - std::chrono::hours(5));
  fs::create_symlink("program", folder / "link");
  copy_file(folder / "link", folder / "copy");
  CHECK(fs::is_regular_file(fs::symlink_status(folder / "copy")));
  CHECK(fs::status(folder / "copy").permissions() == fs::perms(0750));
  CHECK(fs::last_write_time(folder / "copy") == fs::last_write_time(folder / "program"));
  CHECK(read_file(folder / "copy") == read_file(folder / "program"));
}

TEST_CASE("a file whose size the system does not know is copied whole") {
  const TestFolder folder;
  copy_file("/proc/self/status", folder / "status");
  CHECK(read_file(folder / "status").find("Pid:") != std::string::npos);
}

TEST_CASE("a tree is copied over what is there") {
  const TestFolder folder;
  fs::create_directories(folder / "from/deep/empty");
  write_file(folder / "from/deep/a", "new");
  write_file(folder / "from/top", "top");
  fs::create_directories(folder / "to/deep");
  write_file(folder / "to/deep/a", "old");
  write_file(folder / "to/kept", "kept");
  copy_tree(folder / "from", folder / "to");
  CHECK(read_file(folder / "to/deep/a") == "new");
  CHECK(read_file(folder / "to/top") == "top");
  CHECK(read_file(folder / "to/kept") == "kept");
  CHECK(fs::is_directory(folder / "to/deep/empty"));
}

TEST_CASE("links within a tree stay links; links out of it become what they point to") {
  const TestFolder folder;
  write_file(folder / "outside", "secret of another folder");
  fs::create_directories(folder / "from/data");
  write_file(folder / "from/data/a", "a");
  fs::create_symlink("data/a", folder / "from/inner");
  fs::create_symlink("../outside", folder / "from/outer");
  fs::create_symlink(folder / "from/data", folder / "from/absolute");
  copy_tree(folder / "from", folder / "to");
  CHECK(fs::read_symlink(folder / "to/inner") == "data/a");
  CHECK(fs::is_regular_file(fs::symlink_status(folder / "to/outer")));
  CHECK(read_file(folder / "to/outer") == "secret of another folder");
  CHECK(fs::is_directory(fs::symlink_status(folder / "to/absolute")));
  CHECK(read_file(folder / "to/absolute/a") == "a");
  SUBCASE("and again over the copy") {
    copy_tree(folder / "from", folder / "to");
    CHECK(fs::read_symlink(folder / "to/inner") == "data/a");
  }
}

TEST_CASE("what cannot be copied is an error, not a hang") {
  const TestFolder folder;
  fs::create_directories(folder / "from");
  SUBCASE("a FIFO") {
    REQUIRE(::mkfifo((folder / "from/fifo").c_str(), 0600) == 0);
  }
  SUBCASE("a link that leads nowhere") {
    fs::create_symlink("/nowhere/at/all", folder / "from/dangling");
  }
  SUBCASE("a link to a folder above") {
    fs::create_symlink(folder.path(), folder / "from/loop");
  }
  CHECK_THROWS_AS(copy_tree(folder / "from", folder / "to"), Error);
}

TEST_CASE("a FIFO as the source itself") {
  const TestFolder folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK_THROWS_AS(copy_tree(folder / "fifo", folder / "to"), Error);
}

}  // namespace
}  // namespace godwit::store
