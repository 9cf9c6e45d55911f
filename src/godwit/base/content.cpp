#include "godwit/base/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "godwit/base/units.h"

namespace godwit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// Adds the file's content; false where it cannot be read.
bool add_file(const fs::path& path, StreamHasher& hasher, std::uint64_t& bytes) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(kPieceBytes);
  while (file.read(piece.data(), kPieceBytes), file.gcount() > 0) {
    hasher.add({piece.data(), static_cast<std::size_t>(file.gcount())});
    bytes += static_cast<std::uint64_t>(file.gcount());
  }
  return file.eof() && !file.bad();
}

}  // namespace

std::optional<Content> content_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error, of_file;  // a link to nowhere is no file
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(of_file)) files.push_back(at->path());
  if (error || files.empty()) return std::nullopt;
  std::sort(files.begin(), files.end());
  Content out;
  FieldHasher all;
  for (const fs::path& file : files) {
    StreamHasher hasher;
    const std::uint64_t before = out.bytes;
    if (!add_file(file, hasher, out.bytes)) return std::nullopt;
    const Hash128 content = hasher.digest128();
    all.add(file.lexically_relative(folder).native()).add(out.bytes - before).add(content.high).add(content.low);
  }
  out.digest = all.digest128();
  return out;
}

std::string difference_of(const std::optional<Content>& now, const Content& before) {
  if (!now) return "nothing there that can be read";
  if (now->bytes == before.bytes) return "other content of the same size";
  return fmt::format("{} instead of {}", format_bytes(now->bytes), format_bytes(before.bytes));
}

}  // namespace godwit
