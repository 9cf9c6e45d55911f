#include "godwit/experiment/code_watch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "godwit/experiment/code.h"
#include "godwit/store/test_folder.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a file that is edited is noticed, and so is that it was put back") {
  const store::TestFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  write("train.sh", "one");
  write("lib/a.py", "a");
  write("lib/deep/b.py", "b");
  const std::set<std::string> paths{folder / "train.sh", folder / "lib", folder / "not-there"};
  CodeWatch watch(paths, folder.path(), code_of(paths, folder.path()));
  CHECK_FALSE(watch.altered());

  write("train.sh", "two");
  CHECK(watch.altered() == "train.sh");
  CHECK(watch.altered() == "train.sh");
  write("train.sh", "one");
  CHECK_FALSE(watch.altered());
  fs::last_write_time(folder / "train.sh", fs::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK_FALSE(watch.altered());

  write("lib/deep/b.py", "B");
  CHECK(watch.altered() == "lib");
  write("lib/deep/b.py", "b");
  CHECK_FALSE(watch.altered());
  write("lib/c.py", "");
  CHECK(watch.altered() == "lib");
  fs::remove(folder / "lib/c.py");
  CHECK_FALSE(watch.altered());
  fs::remove(folder / "train.sh");
  CHECK(watch.altered() == "train.sh");
}

TEST_CASE("what was edited between the agreement and the first look is noticed too") {
  const store::TestFolder folder;
  std::ofstream(folder / "train.sh") << "one";
  const std::set<std::string> paths{folder / "train.sh"};
  const Json code = code_of(paths, folder.path());
  std::ofstream(folder / "train.sh") << "two";
  CHECK(CodeWatch(paths, folder.path(), code).altered() == "train.sh");
}

}  // namespace
}  // namespace godwit::experiment
