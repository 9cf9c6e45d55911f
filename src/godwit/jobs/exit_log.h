// exits.log: what the supervisor must never forget. Which attempts were ever started, how each ended, and which
// supervisors there were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/base/hash.h"
#include "godwit/jobs/wire.h"
#include "godwit/store/checked_log.h"

namespace godwit::jobs {

// A supervisor whose jobs may have outlived it.
struct Predecessor {
  std::int32_t pid = 0;  // also its session
  std::string boot_id;
  std::uint64_t start_ticks = 0;
  static void visit(auto& self, auto& code) { code(self.pid, self.boot_id, self.start_ticks); }
};

class ExitLog {
 public:
  // Opens or creates; throws as CheckedLog does.
  explicit ExitLog(const std::string& path);

  // Attempts that were started and have no end: after opening, those of dead supervisors.
  std::vector<std::string> open_attempts() const;
  // The supervisors that may have left them.
  const std::vector<Predecessor>& predecessors() const { return predecessors_; }

  bool knows(const std::string& key) const { return records_.contains(hash128(key)); }
  // How it ended; nullopt where it has not or is not known.
  std::optional<wire::Exit> exit_of(const std::string& key) const;

  // Who writes from now on; recorded with the first start.
  void set_supervisor(const Predecessor& self) { self_ = self; }
  // Before the process is made. False where the disk is too full to promise room for this record and the ends of all
  // that run: then nothing is written.
  bool started(const std::string& key, Micros time);
  // Throws SystemError where the disk is full against the promise (a file system that cannot reserve).
  void ended(const std::string& key, const wire::Exit& exit);

  std::uint64_t cut_bytes() const { return log_.cut_bytes(); }

 private:
  struct KeyHash {
    std::size_t operator()(const Hash128& hash) const { return hash.low; }
  };

  void replay(std::uint64_t offset, std::string_view record);
  void remember_start(const std::string& key, Micros time);
  void remember_end(const std::string& key, std::uint64_t offset);

  std::unordered_map<Hash128, std::uint64_t, KeyHash> records_;  // where the end is recorded; 0: not ended
  std::unordered_map<std::string, Micros> open_;                 // by key: when it started
  std::uint64_t promised_ = 0;                                   // bytes for the ends of the open ones
  std::vector<Predecessor> predecessors_;
  std::optional<Predecessor> self_;  // until it is recorded
  store::CheckedLog log_;
};

}  // namespace godwit::jobs
