#include "godwit/jobs/job_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/jobs/proc_table.h"
#include "godwit/jobs/spawn.h"
#include "godwit/jobs/strays.h"

namespace godwit::jobs {
namespace {

constexpr Micros kMillisecond = 1000;
constexpr Micros kSecond = 1'000'000;
constexpr Micros kWatchPeriod = 200 * kMillisecond;
constexpr Micros kWatchPeriodUnasked = kSecond;  // where no job said how much memory it needs
constexpr Micros kDrainPeriod = 20 * kMillisecond;
constexpr Micros kDrainLimit = 5 * kSecond;

Micros monotonic_now() {
  return system_clock().monotonic();
}

std::uint64_t micros_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

std::string_view value_in(const Environment& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (name_of(entry) == name) return std::string_view(entry).substr(std::min(entry.size(), name.size() + 1));
  return {};
}

std::uint32_t gpus_of_machine() {
  std::uint32_t count = 0;
  std::error_code absent;
  while (std::filesystem::exists(fmt::format("/dev/nvidia{}", count), absent)) ++count;
  return count;
}

// A just-written executable may still be open for writing in a process that another thread is making.
Spawned spawn_patiently(const SpawnRequest& request) {
  Spawned spawned = spawn(request);
  for (int i = 0; i < 20 && spawned.error == ETXTBSY; ++i) {
    ::usleep(5'000);
    spawned = spawn(request);
  }
  return spawned;
}

}  // namespace

JobRunner::JobRunner(ExitLog& log, std::string state, RunnerListener& listener)
    : log_(log), state_(std::move(state)), listener_(listener), oom_kills_seen_(kernel_oom_kills()) {
  gpus_.provide(gpus_of_machine());
}

void JobRunner::offer(const std::vector<wire::Slots>& sites) {
  for (const wire::Slots& offer : sites) {
    Site& site = sites_[offer.site];
    if (site.slots)
      site.slots->offer(offer);
    else
      site.slots.emplace(offer);
    gpus_.provide(offer.gpus);
  }
  schedule();
}

void JobRunner::launch(wire::Launch job, std::shared_ptr<const ClientEnvironment> client) {
  if (!job.slotted) job.site.clear();  // the nameless site has no limits
  const auto found = job.slotted ? sites_.find(job.site) : sites_.try_emplace(job.site).first;
  if (found == sites_.end()) return refuse(job.key, wire::Cause::not_started, "there is no site '" + job.site + "'");
  Site& site = found->second;
  if (site.slots) {
    if (std::string refusal = site.slots->refusal(job); !refusal.empty())
      return refuse(job.key, wire::Cause::not_started, std::move(refusal));
  }
  queued_.insert(job.key);
  site.queue.push_back({std::move(job), std::move(client)});
  if (site.queue.size() == 1 || !site.slots || !site.slots->full()) schedule(site);
}

void JobRunner::refuse(const std::string& key, wire::Cause cause, std::string what) {
  wire::Exit exit;
  exit.cause = cause;
  exit.what = std::move(what);
  exit.started = exit.ended = system_clock().now();
  listener_.on_exited({key, exit});
}

void JobRunner::schedule() {
  for (auto& [name, site] : sites_) schedule(site);
}

void JobRunner::schedule(Site& site) {
  if (stopping_ || retry_at_ != 0) return;
  for (std::size_t i = 0; i < site.queue.size();) {
    if (site.slots && site.slots->full()) return;
    Queued& queued = site.queue[i];
    if (site.slots && !site.slots->fits(queued.job)) {
      if (queued.overtaken >= kMostOvertakings) return;
      ++i;
      continue;
    }
    if (!start(site, queued)) return;
    for (std::size_t passed = 0; passed < i; ++passed) ++site.queue[passed].overtaken;
    site.queue.erase(site.queue.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// False where the disk is too full to start anything: the job stays queued.
bool JobRunner::start(Site& site, Queued& queued) {
  const Micros now = system_clock().now();
  if (!log_.started(queued.job.key, now)) {
    retry_at_ = monotonic_now() + kSecond;
    return false;
  }
  queued_.erase(queued.job.key);
  Running running;
  running.started = now;
  running.begun = monotonic_now();
  running.gpus = gpus_.take(queued.job.gpus);
  const wire::Launch& job = queued.job;
  const Environment environment = environment_of(job, *queued.client, surroundings_of(queued, running.gpus));
  const Spawned spawned = spawn_patiently({job.program, job.arguments, environment, job.directory, job.stdin_path,
                                           job.stdout_path, job.stderr_path, job.append_output});
  if (spawned.error != 0) {
    gpus_.give_back(running.gpus);
    wire::Exit exit;
    exit.cause = wire::Cause::not_started;
    exit.error = spawned.error;
    exit.what = spawned.what;
    exit.started = exit.ended = now;
    record(job.key, exit);
    return true;
  }
  if (job.time_limit_s > 0) running.limit_at = running.begun + job.time_limit_s * kSecond;
  if (site.slots) site.slots->take(job);
  pids_.emplace(job.key, spawned.pid);
  listener_.on_started({job.key, spawned.pid, now});
  running.job = std::move(queued.job);
  running_.emplace(spawned.pid, std::move(running));
  return true;
}

// What the process learns of where it runs.
Environment JobRunner::surroundings_of(const Queued& queued, const std::vector<std::uint32_t>& gpus) const {
  Environment out{fmt::format("{}={}", kAttemptVariable, queued.job.key), fmt::format("{}={}", kStateVariable, state_)};
  if (gpus.empty()) return out;
  // Where we may use only some devices ourselves, ours are numbers into that list.
  const std::string_view visible = value_in(queued.client->inherited, "CUDA_VISIBLE_DEVICES");
  std::vector<std::string> devices;
  devices.reserve(gpus.size());
  const std::vector<std::string_view> names = split(visible, ',');
  for (const std::uint32_t gpu : gpus)
    devices.push_back(!visible.empty() && gpu < names.size() ? std::string(names[gpu]) : std::to_string(gpu));
  out.push_back(fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(devices, ",")));
  return out;
}

void JobRunner::lost(const std::string& key) {
  wire::Exit exit;
  exit.cause = wire::Cause::lost;
  exit.ended = system_clock().now();
  record(key, exit);
}

void JobRunner::cancel(const std::string& key, bool now) {
  if (const auto found = pids_.find(key); found != pids_.end()) {
    Running& job = running_.at(found->second);
    if (now) {
      if (job.cause == wire::Cause::itself && job.ended == 0) job.cause = wire::Cause::killed;
      signal_family(found->second, SIGKILL);
    } else {
      terminate(found->second, job, wire::Cause::terminated);
    }
    return;
  }
  if (queued_.erase(key) == 0) return;
  for (auto& [name, site] : sites_)
    std::erase_if(site.queue, [&](const Queued& queued) { return queued.job.key == key; });
  refuse(key, wire::Cause::withdrawn, {});
}

void JobRunner::terminate(pid_t pid, Running& job, wire::Cause cause) {
  if (job.cause != wire::Cause::itself || job.ended != 0) return;
  job.cause = cause;
  job.kill_at = monotonic_now() + job.job.grace_s * kSecond;
  signal_family(pid, SIGTERM);
  ::kill(-pid, SIGCONT);  // a stopped one would not hear it
}

// The group and, because timeout(1) and shells with job control make groups of their own, all descendants.
void JobRunner::signal_family(pid_t pid, int signal) const {
  const auto all = families();
  ::kill(-pid, signal);
  const auto family = all.find(pid);
  if (family == all.end()) return;
  for (const Process& member : family->second)
    if (member.group != pid) ::kill(member.pid, signal);
}

// The running job that a process belongs to, by its group or its ancestors; 0: none.
pid_t JobRunner::family_of(const Process& process, const std::unordered_map<pid_t, const Process*>& by_pid) const {
  constexpr int kDeepest = 1000;  // parents change while we look: never go in circles
  const Process* at = &process;
  for (int i = 0; i < kDeepest; ++i) {
    if (running_.contains(at->group)) return at->group;
    const auto parent = by_pid.find(at->parent);
    if (parent == by_pid.end()) return 0;
    at = parent->second;
  }
  return 0;
}

std::unordered_map<pid_t, std::vector<Process>> JobRunner::families() const {
  const std::vector<Process> all = all_processes();
  std::unordered_map<pid_t, const Process*> by_pid;
  for (const Process& process : all) by_pid.emplace(process.pid, &process);
  std::unordered_map<pid_t, std::vector<Process>> out;
  for (const Process& process : all)
    if (const pid_t family = family_of(process, by_pid); family != 0) out[family].push_back(process);
  return out;
}

void JobRunner::stop() {
  stopping_ = true;
  for (auto& [pid, job] : running_) terminate(pid, job, wire::Cause::terminated);
}

std::optional<wire::Started> JobRunner::running(const std::string& key) const {
  const auto found = pids_.find(key);
  if (found == pids_.end()) return std::nullopt;
  return wire::Started{key, found->second, running_.at(found->second).started};
}

void JobRunner::reap() {
  bool ended = false;
  for (;;) {
    siginfo_t info{};
    // WNOWAIT: while the leader is a zombie its number, and so its group's, is nobody else's.
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    const pid_t pid = info.si_pid;
    if (const auto leader = running_.find(pid); leader != running_.end() && leader->second.ended == 0) {
      leader_ended(pid, leader->second);
      ended = true;
      continue;
    }
    // An orphan that came to us as the subreaper: its use belongs to the job whose group it is in.
    const auto job = running_.find(::getpgid(pid));
    struct rusage use{};
    ::wait4(pid, nullptr, 0, &use);
    if (job != running_.end()) add_use(job->second, use);
  }
  if (ended) kill_escaped();
  finish_drained();
  if (ended) schedule();
}

void JobRunner::leader_ended(pid_t pid, Running& job) {
  ::kill(-pid, SIGKILL);
  struct rusage use{};
  ::wait4(pid, &job.status, 0, &use);
  add_use(job, use);
  job.ended = monotonic_now();
  job.give_up_at = job.ended + kDrainLimit;
}

void JobRunner::add_use(Running& job, const struct rusage& use) const {
  job.cpu_us += micros_of(use.ru_utime) + micros_of(use.ru_stime);
  job.peak_kb = std::max(job.peak_kb, static_cast<std::uint64_t>(use.ru_maxrss));
}

bool JobRunner::group_is_gone(pid_t group) const {
  return ::kill(-group, 0) != 0 && errno == ESRCH;
}

void JobRunner::finish_drained() {
  const Micros now = monotonic_now();
  std::vector<pid_t> drained;
  for (const auto& [pid, job] : running_)
    if (job.ended != 0 && (group_is_gone(pid) || now >= job.give_up_at)) drained.push_back(pid);
  for (const pid_t pid : drained) finish(pid);
}

void JobRunner::finish(pid_t pid) {
  const auto node = running_.extract(pid);
  const Running& job = node.mapped();
  pids_.erase(job.job.key);
  if (const Site& site = sites_.at(job.job.site); site.slots) sites_.at(job.job.site).slots->give_back(job.job);
  gpus_.give_back(job.gpus);

  wire::Exit exit;
  exit.cause = job.cause;
  exit.status = job.status;
  exit.cpu_us = job.cpu_us;
  exit.peak_memory_kb = job.peak_kb;
  exit.wall_us = static_cast<std::uint64_t>(job.ended - job.begun);
  exit.started = job.started;
  exit.ended = job.started + (job.ended - job.begun);
  const bool killed = WIFSIGNALED(job.status) && WTERMSIG(job.status) == SIGKILL;
  const bool says_killed = WIFEXITED(job.status) && WEXITSTATUS(job.status) == 128 + SIGKILL;  // as shells do
  if (job.cause == wire::Cause::itself && (killed || says_killed)) {
    const std::uint64_t kills = kernel_oom_kills();
    exit.kernel_killed = kills > std::exchange(oom_kills_seen_, kills);
  }
  record(job.job.key, exit);
}

void JobRunner::record(const std::string& key, const wire::Exit& exit) {
  try {
    log_.ended(key, exit);
  } catch (const SystemError&) {
    unwritten_.push_back({key, exit});
    retry_at_ = monotonic_now() + kSecond;
  }
  listener_.on_exited({key, exit});
}

std::optional<Micros> JobRunner::next_deadline() const {
  Micros next = retry_at_;
  const auto consider = [&](Micros at) {
    if (at != 0 && (next == 0 || at < next)) next = at;
  };
  if (!running_.empty()) {
    consider(std::max<Micros>(watch_at_, 1));
    consider(std::max<Micros>(sweep_at_, 1));
  }
  for (const auto& [pid, job] : running_) {
    if (job.ended != 0) {
      consider(monotonic_now() + kDrainPeriod);
      continue;
    }
    consider(job.limit_at);
    consider(job.kill_at);
  }
  if (next == 0) return std::nullopt;
  return next;
}

void JobRunner::tick() {
  const Micros now = monotonic_now();
  enforce_deadlines(now);
  if (!running_.empty() && now >= watch_at_) watch_memory(now);
  if (!running_.empty() && now >= sweep_at_) kill_escaped();
  finish_drained();
  if (retry_at_ != 0 && now >= retry_at_) {
    retry_at_ = 0;
    for (std::deque<wire::Exited> again = std::exchange(unwritten_, {}); const wire::Exited& end : again) {
      try {
        log_.ended(end.key, end.exit);
      } catch (const SystemError&) {
        unwritten_.push_back(end);
        retry_at_ = now + kSecond;
      }
    }
  }
  schedule();
}

void JobRunner::enforce_deadlines(Micros now) {
  for (auto& [pid, job] : running_) {
    if (job.ended != 0) continue;
    if (job.limit_at != 0 && now >= job.limit_at) {
      job.limit_at = 0;
      terminate(pid, job, wire::Cause::time_limit);
    }
    if (job.kill_at != 0 && now >= job.kill_at) {
      job.kill_at = 0;
      signal_family(pid, SIGKILL);
    }
  }
}

void JobRunner::watch_memory(Micros now) {
  const std::unordered_map<pid_t, std::vector<Process>> all = families();
  bool asked = false;
  for (auto& [pid, job] : running_) {
    const auto found = all.find(pid);
    if (found == all.end()) continue;
    std::uint64_t used = 0;
    for (const Process& member : found->second) used += member.resident_kb;
    const std::uint64_t limit = job.job.memory_mb * 1024;
    asked = asked || limit != 0;
    if (limit != 0 && used > limit) {
      // What processes share was counted once for each of them.
      std::uint64_t proportional = 0;
      for (const Process& member : found->second) proportional += proportional_kb(member.pid).value_or(0);
      if (proportional != 0) used = std::min(used, proportional);
    }
    job.peak_kb = std::max(job.peak_kb, used);
    if (limit == 0 || used <= limit || job.ended != 0) continue;
    if (job.cause == wire::Cause::itself) job.cause = wire::Cause::out_of_memory;
    signal_family(pid, SIGKILL);
  }
  // On a machine with very many processes: at most a twentieth of a core.
  const Micros cost = monotonic_now() - now;
  watch_at_ = now + std::max(asked ? kWatchPeriod : kWatchPeriodUnasked, 20 * cost);
}

// Processes that left their job's group and whose parents ended are our children now (we are the subreaper). Those of
// jobs that still run may stay.
void JobRunner::kill_escaped() {
  sweep_at_ = monotonic_now() + kSecond;
  for (const pid_t child : own_children()) {
    if (running_.contains(child)) continue;
    const auto found = process(child);
    if (!found || found->dead() || running_.contains(found->group)) continue;
    const std::string key = environment_value(child, kAttemptVariable).value_or("");
    const auto job = pids_.find(key);
    const bool of_running_job = job != pids_.end() && running_.at(job->second).ended == 0;
    if (of_running_job || (key.empty() && !running_.empty())) continue;
    if (found->group != ::getpgrp()) ::kill(-found->group, SIGKILL);
    ::kill(child, SIGKILL);
  }
}

}  // namespace godwit::jobs
