// Where checkpoints lie: a seam, so that the rules about them are tested without a disk. What takes long happens beside
// the engine's thread; answers come by poll().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "godwit/base/content.h"

namespace godwit::engine {

class CheckpointStore {
 public:
  // Nothing: there is no such folder, it is empty, or it cannot be read.
  using OnMeasured = std::function<void(std::optional<Content>)>;
  using OnRemoved = std::function<void(bool gone)>;

  virtual ~CheckpointStore() = default;
  virtual bool exists(const std::string& folder) = 0;
  // Reads the folder to its last byte. Both answer in poll(), on the caller's thread.
  virtual void measure(const std::string& folder, OnMeasured then) = 0;
  virtual void remove(const std::string& folder, OnRemoved then) = 0;
  // True where there was an answer.
  virtual bool poll() = 0;
  // A descriptor that becomes readable when there is one, or -1.
  virtual int wake_fd() const = 0;
};

// Folders are relative to `directory`, or absolute.
std::unique_ptr<CheckpointStore> make_checkpoint_store(std::string directory);

}  // namespace godwit::engine
