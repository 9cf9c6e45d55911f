// Where checkpoints lie: a seam, so that the rules about them are tested without a disk. What takes long happens beside
// the engine's thread; answers come by poll().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "godwit/base/hash.h"

namespace godwit::engine {

// The files of a checkpoint's folder together: their names and contents.
struct CheckpointMeasure {
  std::uint64_t bytes = 0;
  Hash128 digest;
  friend bool operator==(const CheckpointMeasure&, const CheckpointMeasure&) = default;
};

class CheckpointStore {
 public:
  // Nothing: there is no such folder, it is empty, or it cannot be read.
  using OnMeasured = std::function<void(std::optional<CheckpointMeasure>)>;
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
