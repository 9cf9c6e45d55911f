// The supervisor's heart: queues, slots, processes and their ends. Knows no sockets.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "godwit/base/clock.h"
#include "godwit/jobs/exit_log.h"
#include "godwit/jobs/launch.h"
#include "godwit/jobs/proc_table.h"
#include "godwit/jobs/slots.h"
#include "godwit/jobs/wire.h"

namespace godwit::jobs {

// Hears of every start and end.
class RunnerListener {
 public:
  virtual ~RunnerListener() = default;
  virtual void on_started(const wire::Started& started) = 0;
  virtual void on_exited(const wire::Exited& exited) = 0;
};

// Runs jobs in their sites' slots, in the order they were launched; when one ends the next starts at once. A job that
// does not fit lets up to kMostOvertakings later ones pass, then holds its place. The process must be a subreaper, have
// SIGCHLD blocked, and call reap() when it comes and tick() when the time of next_deadline() has come.
class JobRunner {
 public:
  // `state` is the state directory's id (strays.h).
  JobRunner(ExitLog& log, std::string state, RunnerListener& listener);

  void offer(const std::vector<wire::Slots>& sites);
  // The key must be new: see knows().
  void launch(wire::Launch job, std::shared_ptr<const ClientEnvironment> client);
  // Records the end of an attempt that a dead supervisor ran.
  void lost(const std::string& key);
  // Queued: withdrawn. Running: SIGTERM, grace, SIGKILL; `now`: SIGKILL. Else nothing.
  void cancel(const std::string& key, bool now);
  void reap();
  void tick();
  // Monotonic time of the next tick(); nullopt where none is needed.
  std::optional<Micros> next_deadline() const;
  // Starts nothing more and ends what runs, with its grace.
  void stop();

  // Whether it was ever launched, by this supervisor or one before.
  bool knows(const std::string& key) const { return log_.knows(key) || queued_.contains(key); }
  std::optional<wire::Started> running(const std::string& key) const;
  bool idle() const { return running_.empty() && queued_.empty(); }
  bool runs_nothing() const { return running_.empty(); }

 private:
  static constexpr std::uint32_t kMostOvertakings = 32;

  struct Queued {
    wire::Launch job;
    std::shared_ptr<const ClientEnvironment> client;
    std::uint32_t overtaken = 0;
  };
  struct Site {
    std::optional<SiteSlots> slots;  // none: unlimited
    std::deque<Queued> queue;
  };
  struct Running {
    wire::Launch job;
    std::vector<std::uint32_t> gpus;
    Micros started = 0;   // UTC
    Micros begun = 0;     // monotonic, as all below
    Micros ended = 0;     // 0: the leader lives
    Micros limit_at = 0;  // 0: never, as below
    Micros kill_at = 0;
    Micros give_up_at = 0;  // stragglers in the group that will not die
    wire::Cause cause = wire::Cause::itself;
    int status = 0;
    std::uint64_t cpu_us = 0;
    std::uint64_t peak_kb = 0;
  };

  void schedule();
  void schedule(Site& site);
  bool start(Site& site, Queued& queued);
  Environment surroundings_of(const Queued& queued, const std::vector<std::uint32_t>& gpus) const;
  void leader_ended(pid_t pid, Running& job);
  void add_use(Running& job, const struct rusage& use) const;
  bool group_is_gone(pid_t group) const;
  void finish_drained();
  void finish(pid_t pid);
  void record(const std::string& key, const wire::Exit& exit);
  void refuse(const std::string& key, wire::Cause cause, std::string what);
  void terminate(pid_t pid, Running& job, wire::Cause cause);
  void signal_family(pid_t pid, int signal) const;
  pid_t family_of(const Process& process, const std::unordered_map<pid_t, const Process*>& by_pid) const;
  std::unordered_map<pid_t, std::vector<Process>> families() const;
  void enforce_deadlines(Micros now);
  void watch_memory(Micros now);
  void kill_escaped();

  ExitLog& log_;
  std::string state_;
  RunnerListener& listener_;
  std::map<std::string, Site> sites_;
  GpuPool gpus_;
  std::unordered_set<std::string> queued_;
  std::unordered_map<pid_t, Running> running_;  // by the leader's pid, which is the group's
  std::unordered_map<std::string, pid_t> pids_;
  std::deque<wire::Exited> unwritten_;  // ends that a full disk would not take yet
  Micros retry_at_ = 0;                 // after a full disk
  Micros watch_at_ = 0;
  Micros sweep_at_ = 0;
  std::uint64_t oom_kills_seen_;
  bool stopping_ = false;
};

}  // namespace godwit::jobs
