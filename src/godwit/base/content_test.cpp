#include "godwit/base/content.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

namespace godwit {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/content.XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  fs::path path;
};

TEST_CASE("a folder is known by its files' names and contents, wherever it lies") {
  const Folder a, b;
  for (const Folder* folder : {&a, &b}) {
    folder->write("model.bin", "weights");
    folder->write("state/step", "7");
  }
  const auto content = content_of(a.path);
  REQUIRE(content);
  CHECK(content->bytes == 8);
  CHECK(content == content_of(b.path));

  b.write("state/step", "8");
  CHECK(content != content_of(b.path));
  CHECK(difference_of(content_of(b.path), *content) == "other content of the same size");
  b.write("state/step", "7");
  fs::rename(b.path / "model.bin", b.path / "best.bin");
  CHECK(content != content_of(b.path));
  fs::remove(b.path / "best.bin");
  CHECK(difference_of(content_of(b.path), *content) == "1 B instead of 8 B");
}

TEST_CASE("where there is no file there is no content") {
  const Folder folder;
  CHECK_FALSE(content_of(folder.path / "nowhere"));
  CHECK_FALSE(content_of(folder.path));
  fs::create_directory(folder.path / "empty");
  fs::create_symlink("gone", folder.path / "link");
  CHECK_FALSE(content_of(folder.path));
  CHECK(difference_of(std::nullopt, {}) == "nothing there that can be read");
  folder.write("model", "m");
  CHECK(content_of(folder.path)->bytes == 1);
}

}  // namespace
}  // namespace godwit
