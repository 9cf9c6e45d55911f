// Whether there is room where an experiment writes: its state, and what its runs leave. A seam.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace godwit::engine {

// A file system that takes no more.
struct NoRoom {
  std::string filesystem;        // where it is mounted
  std::uint64_t free_bytes = 0;  // for everybody
  bool quota = false;            // there is room, but not for this user

  // "the disk is full: /scratch has 12 kB free"
  std::string text() const;
};

class Disk {
 public:
  virtual ~Disk() = default;
  // Free on the fullest of the file systems. Cheap: asks, and writes nothing. Quotas do not show in it.
  virtual std::uint64_t free_bytes() = 0;
  // Tries to write to each; the first that does not take it.
  virtual std::optional<NoRoom> without_room() = 0;
  // Leaves a word for those who look at the experiment while nothing can be written; empty takes it away.
  virtual void leave_note(const std::string& text) = 0;
};

// Of these folders. The note goes to `note_file`, which is made at once, so that it needs no room later.
std::unique_ptr<Disk> make_disk(std::vector<std::string> folders, std::string note_file);

}  // namespace godwit::engine
