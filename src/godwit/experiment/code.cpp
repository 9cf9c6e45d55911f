#include "godwit/experiment/code.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/base/hash.h"

namespace godwit::experiment {
namespace {

namespace fs = std::filesystem;

// Beyond these, a file counts by its size and time: every start of an experiment looks at all of them.
constexpr std::uint64_t kMostBytesOfOne = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostBytesInAll = std::uint64_t{512} << 20;
constexpr std::size_t kMostFilesOfAFolder = 10'000;

class Reader {
 public:
  // The digest of a file, and its size added to `bytes`.
  std::optional<Hash128> file(const fs::path& path, std::uint64_t& bytes) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(path, error);
    if (error) return std::nullopt;
    bytes += size;
    if (size <= kMostBytesOfOne && read_ + size <= kMostBytesInAll) {
      read_ += size;
      try {
        return hash128(read_file(path));
      } catch (const SystemError&) {
        return std::nullopt;
      }
    }
    const auto changed = fs::last_write_time(path, error).time_since_epoch().count();
    return FieldHasher().add("by its time").add(size).add(static_cast<std::uint64_t>(changed)).digest128();
  }

  std::optional<Hash128> folder(const fs::path& path, std::uint64_t& bytes) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error)) files.push_back(at->path());
      if (files.size() > kMostFilesOfAFolder) return std::nullopt;
    }
    if (error) return std::nullopt;
    std::sort(files.begin(), files.end());
    FieldHasher hasher;
    for (const fs::path& entry : files) {
      const auto digest = file(entry, bytes);
      if (!digest) return std::nullopt;
      hasher.add(entry.lexically_relative(path).native()).add(digest->high).add(digest->low);
    }
    return hasher.digest128();
  }

 private:
  std::uint64_t read_ = 0;
};

}  // namespace

Json code_of(const std::set<std::string>& paths, const std::string& directory) {
  Json out = Json::array();
  Reader reader;
  for (const std::string& path : paths) {
    std::uint64_t bytes = 0;
    std::error_code error;
    const auto digest = fs::is_directory(path, error) ? reader.folder(path, bytes) : reader.file(path, bytes);
    if (!digest) continue;
    const std::string below = directory + "/";
    const std::string name = path.starts_with(below) ? path.substr(below.size()) : path;
    out.push_back({{"file", name}, {"bytes", bytes}, {"digest", hex(*digest)}});
  }
  return out;
}

}  // namespace godwit::experiment
