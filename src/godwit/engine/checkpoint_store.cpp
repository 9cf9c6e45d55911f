#include "godwit/engine/checkpoint_store.h"

#include <filesystem>

#include "godwit/jobs/work_pool.h"

namespace godwit::engine {
namespace {

namespace fs = std::filesystem;

class FileStore final : public CheckpointStore {
 public:
  explicit FileStore(fs::path directory) : directory_(std::move(directory)), pool_(1) {}

  bool exists(const std::string& folder) override {
    std::error_code error;
    return fs::exists(directory_ / folder, error);
  }

  void measure(const std::string& folder, OnMeasured then) override {
    pool_.add([path = directory_ / folder, then = std::move(then)]() -> jobs::WorkPool::Done {
      return [then, measured = content_of(path)] { then(measured); };
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
