// What people get wrong, and what they are told. Each tests/data/experiments/bad/<name>.yaml has a <name>.txt beside
// it: every line of it must be in the message (a line that begins with ! must not be). "<name>.sites.yaml", where there
// is one, is the experiment's sites file. A line "--limit N" is an option.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "godwit/base/file.h"
#include "godwit/experiment/plan.h"

namespace {

using namespace godwit;
namespace fs = std::filesystem;

fs::path folder() {
  const char* source = std::getenv("GODWIT_SOURCE");
  return fs::path(source == nullptr ? "../.." : source) / "tests/data/experiments/bad";
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream in(read_file(path));
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string message_of(const experiment::LoadOptions& options) {
  try {
    experiment::load_and_plan(options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

void check(const fs::path& file) {
  experiment::LoadOptions options;
  options.file = file;
  fs::path sites = file;
  if (fs::exists(sites.replace_extension(".sites.yaml"))) options.sites_file = sites;
  std::vector<std::string> expected = lines_of(fs::path(file).replace_extension(".txt"));
  std::erase_if(expected, [&](const std::string& line) {
    if (!line.starts_with("--limit ")) return false;
    options.limit = std::stoull(line.substr(8));
    return true;
  });
  const std::string message = message_of(options);
  CAPTURE(file.filename().string());
  CAPTURE(message);
  for (const std::string& line : expected) {
    if (line.starts_with('!'))
      CHECK_MESSAGE(message.find(line.substr(1)) == std::string::npos, "should not say: " << line.substr(1));
    else
      CHECK_MESSAGE(message.find(line) != std::string::npos, "should say: " << line);
  }
}

TEST_CASE("every mistake is said with its place, its text and the mend") {
  std::size_t cases = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder())) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".yaml") || name.ends_with(".sites.yaml")) continue;
    check(entry.path());
    ++cases;
  }
  CHECK(cases > 20);
}

}  // namespace
