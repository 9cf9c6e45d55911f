// The folders that jobs run in.
//
//   <state>/sandboxes/<key.file_name()>           the job's working directory
//   <state>/sandboxes/<key.file_name()>.spooled   it started from the spool
//   <state>/spool/<node>/                         checkpoint files of an attempt that ended early
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "godwit/jobs/attempt.h"

namespace godwit::jobs {

// Where a state directory keeps its sandboxes and, unless they are in `spool_dir`, its spools. The folders are made on
// construction.
class SandboxArea {
 public:
  explicit SandboxArea(const std::string& state_dir, const std::string& spool_dir = {});

  std::string path_of(const AttemptKey& key) const { return sandboxes_ + "/" + key.file_name(); }
  std::string marker_of(const AttemptKey& key) const { return path_of(key) + ".spooled"; }
  std::string spool_of(const AttemptKey& key) const;

  // An empty sandbox for the attempt; an older one is moved away and its remains are returned, for remove_remains().
  // Throws SystemError.
  std::optional<std::string> make(const AttemptKey& key) const;
  // Moves a sandbox out of sight, at once. "" where nothing remains: it was empty (then it is kept for make(), because
  // to make and remove thousands of folders is slow on ext4) or is gone.
  std::string discard(const AttemptKey& key) const;
  // Sandboxes of attempts that are over, kept for people to look at: moves the oldest away where there are more than
  // `most`. `in_use` says which names are not over.
  std::vector<std::string> discard_oldest(std::size_t most,
                                          const std::function<bool(const std::string&)>& in_use) const;
  // Deletes what the others moved away: a whole tree, even one whose folders were made read-only.
  static void remove_remains(const std::string& path);
  // What earlier processes moved away and did not live to delete.
  std::vector<std::string> old_remains() const;

 private:
  std::string move_away(const std::string& name) const;
  bool take_spare(const std::string& path) const;
  bool keep_as_spare(const std::string& path) const;

  std::string sandboxes_;
  std::string spools_;
  std::string trash_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> spares_;  // empty folders
};

}  // namespace godwit::jobs
