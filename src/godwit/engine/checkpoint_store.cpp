#include "godwit/engine/checkpoint_store.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "godwit/jobs/work_pool.h"

namespace godwit::engine {
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

std::optional<CheckpointMeasure> measure_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error)) files.push_back(at->path());
  if (error || files.empty()) return std::nullopt;
  std::sort(files.begin(), files.end());
  CheckpointMeasure out;
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

class FileStore final : public CheckpointStore {
 public:
  explicit FileStore(fs::path directory) : directory_(std::move(directory)), pool_(1) {}

  bool exists(const std::string& folder) override {
    std::error_code error;
    return fs::exists(directory_ / folder, error);
  }

  void measure(const std::string& folder, OnMeasured then) override {
    pool_.add([path = directory_ / folder, then = std::move(then)]() -> jobs::WorkPool::Done {
      return [then, measured = measure_folder(path)] { then(measured); };
    });
  }

  void remove(const std::string& folder, OnRemoved then) override {
    pool_.add([path = directory_ / folder, then = std::move(then)]() -> jobs::WorkPool::Done {
      std::error_code error;
      fs::remove_all(path, error);
      return [then, gone = !error] { then(gone); };
    });
  }

  bool poll() override { return pool_.collect(); }
  int wake_fd() const override { return pool_.fd(); }

 private:
  fs::path directory_;
  jobs::WorkPool pool_;  // of one thread: what is asked first is done first
};

}  // namespace

std::unique_ptr<CheckpointStore> make_checkpoint_store(std::string directory) {
  return std::make_unique<FileStore>(std::move(directory));
}

}  // namespace godwit::engine
