#include "godwit/jobs/exit_log.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "godwit/store/test_folder.h"

namespace godwit::jobs {
namespace {

wire::Exit exit_with(int status) {
  wire::Exit exit;
  exit.status = status;
  return exit;
}

TEST_CASE("starts without ends are open for the next supervisor, who learns whom to look for") {
  const store::TestFolder folder;
  const std::string path = folder / "exits.log";
  {
    ExitLog log(path);
    log.set_supervisor({11, "boot", 5});
    REQUIRE(log.started("a", 1));
    REQUIRE(log.started("b", 2));
    log.ended("a", exit_with(7));
    CHECK(log.open_attempts() == std::vector<std::string>{"b"});
  }
  {
    ExitLog log(path);
    CHECK(log.knows("a"));
    CHECK(log.knows("b"));
    CHECK_FALSE(log.knows("c"));
    CHECK(log.exit_of("a")->status == 7);
    CHECK_FALSE(log.exit_of("b"));
    CHECK_FALSE(log.exit_of("c"));
    CHECK(log.open_attempts() == std::vector<std::string>{"b"});
    REQUIRE(log.predecessors().size() == 1);
    CHECK(log.predecessors()[0].pid == 11);
    log.set_supervisor({12, "boot", 6});
    REQUIRE(log.started("c", 3));  // it dies before it has buried b
  }
  {
    ExitLog log(path);
    CHECK(log.predecessors().size() == 2);
    log.ended("b", exit_with(0));
    log.ended("c", exit_with(0));
    log.set_supervisor({13, "boot", 7});
    REQUIRE(log.started("d", 4));
  }
  ExitLog log(path);
  CHECK(log.open_attempts() == std::vector<std::string>{"d"});
  REQUIRE(log.predecessors().size() == 1);
  CHECK(log.predecessors()[0].pid == 13);
}

TEST_CASE("an end torn off by a crash leaves the attempt open") {
  const store::TestFolder folder;
  const std::string path = folder / "exits.log";
  {
    ExitLog log(path);
    REQUIRE(log.started("a", 1));
    log.ended("a", exit_with(0));
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  ExitLog log(path);
  CHECK(log.cut_bytes() > 0);
  CHECK(log.knows("a"));
  CHECK_FALSE(log.exit_of("a"));
  CHECK(log.open_attempts() == std::vector<std::string>{"a"});
}

TEST_CASE("a sentence too long for the room that was promised is cut") {
  const store::TestFolder folder;
  ExitLog log(folder / "exits.log");
  REQUIRE(log.started("a", 1));
  wire::Exit exit = exit_with(0);
  exit.what = std::string(5000, 'x');
  log.ended("a", exit);
  CHECK(log.exit_of("a")->what == std::string(256, 'x'));
}

}  // namespace
}  // namespace godwit::jobs
