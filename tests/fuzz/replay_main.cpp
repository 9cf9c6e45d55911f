// Runs a fuzz harness once over every file of the folders it is given, without libFuzzer, so that what fuzzing found
// stays tested under every compiler and sanitizer.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  try {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  } catch (...) {
    std::fprintf(stderr, "%s: the harness threw\n", path.c_str());
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++count;
    }
  }
  std::printf("%zu inputs replayed\n", count);
  return count > 0 ? 0 : 1;  // an empty corpus tests nothing
}
