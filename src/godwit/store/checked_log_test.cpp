#include "godwit/store/checked_log.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/store/test_folder.h"

namespace godwit::store {
namespace {

std::vector<std::string> records_of(const std::string& path) {
  std::vector<std::string> out;
  CheckedLogReader reader(path);
  while (auto record = reader.next()) out.push_back(*record);
  return out;
}

CheckedLog open_quietly(const std::string& path) {
  return CheckedLog(path, [](std::uint64_t, std::string_view) {});
}

void write_byte(const std::string& path, std::uint64_t offset, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

TEST_CASE("what was appended is read back, by later writers and by readers that go on where they stopped") {
  const TestFolder folder;
  const std::string path = folder / "a.log";
  std::uint64_t second = 0;
  {
    CheckedLog log = open_quietly(path);
    log.append("one");
    second = log.append(std::string("t\0wo", 4));
    CHECK(log.read(second) == std::string("t\0wo", 4));
  }
  CheckedLogReader reader(path);
  CHECK(reader.next() == "one");
  CHECK(reader.offset() == second);
  CHECK(reader.next() == std::string("t\0wo", 4));
  CHECK_FALSE(reader.next());

  std::vector<std::string> seen;
  CheckedLog log(path, [&](std::uint64_t, std::string_view payload) { seen.emplace_back(payload); });
  CHECK(seen == std::vector<std::string>{"one", std::string("t\0wo", 4)});
  CHECK(log.cut_bytes() == 0);
  log.append("three");
  CHECK(reader.next() == "three");
  CheckedLogReader later(path, second);
  CHECK(later.next() == std::string("t\0wo", 4));
}

TEST_CASE("a log cut at any byte of its last record keeps all records before it, and can be appended to") {
  const TestFolder folder;
  const std::string whole = folder / "whole.log";
  std::uint64_t last = 0;
  std::uint64_t end = 0;
  {
    CheckedLog log = open_quietly(whole);
    log.append("first");
    last = log.append("the last record");
    end = log.end();
  }
  for (std::uint64_t size = last; size < end; ++size) {
    CAPTURE(size);
    const std::string path = folder / "torn.log";
    std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path, size);
    CHECK(records_of(path) == std::vector<std::string>{"first"});
    {
      CheckedLog log = open_quietly(path);
      CHECK(log.end() == last);
      CHECK(log.cut_bytes() == size - last);
      log.append("new");
    }
    CHECK(records_of(path) == std::vector<std::string>{"first", "new"});
  }
}

TEST_CASE("a flipped bit in the last record is a torn tail; before sound records it is damage and an error") {
  const TestFolder folder;
  const std::string path = folder / "a.log";
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  {
    CheckedLog log = open_quietly(path);
    first = log.append("first");
    last = log.append("last");
  }
  write_byte(path, last + kRecordOverhead, 'L');
  CHECK(records_of(path) == std::vector<std::string>{"first"});
  CHECK(open_quietly(path).end() == last);
  {
    open_quietly(path).append("last");
  }
  write_byte(path, first + kRecordOverhead, 'F');
  CHECK_THROWS_WITH_AS(open_quietly(path), doctest::Contains("damaged record at byte 8"), Error);
}

TEST_CASE("reserved room does not show, not even where it is written as zeros") {
  const TestFolder folder;
  const std::string path = folder / "a.log";
  {
    CheckedLog log = open_quietly(path);
    log.append("one");
    REQUIRE(log.reserve(1 << 20));
    struct stat info{};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK(info.st_blocks * 512 >= (1 << 20));
    log.append("two");
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 4096);
  CHECK(records_of(path) == std::vector<std::string>{"one", "two"});
  CHECK(open_quietly(path).cut_bytes() == 0);
}

TEST_CASE("a file that is no log is refused and left alone") {
  const TestFolder folder;
  const std::string path = folder / "notes.txt";
  std::ofstream(path) << "my shopping list";
  CHECK_THROWS_WITH_AS(open_quietly(path), doctest::Contains("not a log"), Error);
  CHECK_THROWS_AS(CheckedLogReader{path}, Error);
  CHECK(std::filesystem::file_size(path) == 16);
}

}  // namespace
}  // namespace godwit::store
