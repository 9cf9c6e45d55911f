// godwit take-over: goes on with an experiment that was somebody else's, or another host's.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/base/user.h"
#include "godwit/cli/command.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/owner.h"
#include "godwit/cli/question.h"
#include "godwit/jobs/supervisor.h"
#include "godwit/store/lock.h"

namespace godwit::cli {
namespace {

constexpr Micros kSecond = 1'000'000;
constexpr Micros kLookAgain = kSecond / 10;
using journal::kSilent;
// How long what runs jobs may take to end: it waits half a minute for more of them.
constexpr Micros kLeaving = 60 * kSecond;

struct Options {
  std::string file;
  bool stop_first = false;
  bool yes = false;
  bool json = false;
};

store::LockState writer_of(const journal::StateDir& state) {
  return store::probe_lock(journal::writer_lock(state.journal()));
}

store::LockState supervisor_of(const journal::StateDir& state) {
  return store::probe_lock(state.path() + "/" + jobs::kSupervisorLock);
}

Micros silence(const store::LockState& lock) {
  return std::max<Micros>(0, system_clock().now() - lock.heard_of);
}

std::string heard(const store::LockState& lock) {
  return fmt::format("heard of {} ago", format_duration(static_cast<double>(silence(lock)) / kSecond));
}

bool is_elsewhere(const store::LockState& lock) {
  return lock.holder && !store::is_alive(*lock.holder).has_value();
}

// Waits while it is true, and no longer than `most`; whether it came to be false.
template <typename Condition>
bool wait_while(Condition condition, Micros most) {
  Clock& clock = system_clock();
  const Micros deadline = clock.monotonic() + most;
  while (condition()) {
    if (clock.monotonic() > deadline) return false;
    clock.sleep_until(clock.monotonic() + kLookAgain);
  }
  return true;
}

// An engine that is alive is not taken anything from: it is asked to stop, or nothing is done.
void stop_engine(const journal::StateDir& state, const Options& options) {
  const store::LockState lock = writer_of(state);
  const bool silent = silence(lock) >= kSilent;
  if (silent || (!lock.held && !is_elsewhere(lock))) return;
  const std::string who = lock.holder ? lock.holder->text() : "an engine";
  if (!options.stop_first)
    throw InputError(fmt::format("{} is at work on it ({})", who, heard(lock)),
                     "'godwit take-over --stop-first' asks it to stop and waits for its end");
  journal::drop_request(state, {{"what", "stop"}});
  fmt::print(stderr, "Asked {} to stop; its jobs checkpoint first …\n", who);
  const auto at_work = [&] {
    const store::LockState now = writer_of(state);
    if (silence(now) >= kSilent) throw Error(fmt::format("{} does not stop ({})", who, heard(now)));
    return now.held || is_elsewhere(now);
  };
  wait_while(at_work, std::numeric_limits<Micros>::max() / 2);
}

// What still runs here under another name would run a second time.
void require_no_jobs_of_others(const journal::StateDir& state) {
  const auto theirs = [&] {
    const store::LockState lock = supervisor_of(state);
    return lock.held && lock.holder && !lock.holder->user.empty() && lock.holder->user != user_name();
  };
  if (!theirs()) return;
  fmt::print(stderr, "Waiting for what still runs here under another name …\n");
  if (wait_while(theirs, kLeaving)) return;
  const store::LockState lock = supervisor_of(state);
  throw InputError(fmt::format("jobs of it still run: {}", lock.holder ? lock.holder->text() : "their supervisor"),
                   "they end by themselves, or their owner ends them with 'godwit stop'");
}

void require_leave_to_write(const journal::StateDir& state) {
  for (const std::string& path : {state.path(), state.journal(), journal::writer_lock(state.journal()), state.folder(),
                                  state.folder() + "/runs"}) {
    if (::access(path.c_str(), W_OK) == 0 || errno == ENOENT) continue;
    throw InputError(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                     "its owner lets the group go on with it: chmod -R g+w . && find . -type d -exec chmod g+s {} +");
  }
}

int take_over(const Options& options) {
  const Opened opened = open_journal(options.file);
  const journal::StateDir& state = opened.state;
  const journal::EngineRecord& engine = opened.view.engine();
  const store::LockState lock = writer_of(state);
  const std::string me = user_name();
  const bool mine = engine.user.empty() || engine.user == me;
  const bool frozen = lock.held && silence(lock) >= kSilent;
  if (mine && !is_elsewhere(lock) && !frozen)
    throw InputError(lock.held && lock.holder
                         ? fmt::format("the experiment is yours, and {} is at work on it", lock.holder->text())
                         : "the experiment is yours already",
                     lock.held ? "'godwit stop' ends it" : "go on with it: godwit run");
  require_leave_to_write(state);
  stop_engine(state, options);
  require_no_jobs_of_others(state);

  const std::string from = engine.user.empty() ? "somebody" : engine.user;
  const std::string what = fmt::format("{}, {}'s on {}, {}", opened.view.dag().name, from, engine.host, heard(lock));
  if (!options.yes) {
    fmt::print(stderr, "{}\n", what);
    if (options.json || !can_ask()) throw InputError("to take it over needs leave", "--yes gives it");
    if (!ask(fmt::format("Go on with it as {}?", me))) {
      fmt::print(stderr, "Nothing was changed.\n");
      return kInterrupted;
    }
  }
  share_with_group(state.folder());
  const store::LockHolder self = store::this_process("godwit take-over");
  const auto journal = journal::Journal::open(
      state.journal(), {.command = self.command, .take_over = true, .vfs = {}, .network_file_system = {}});
  const std::optional<store::LockHolder> holder = writer_of(state).holder;
  const std::string change = Json{
      {"user", self.user},
      {"host", self.host},
      {"epoch", holder ? holder->epoch : 0},
      {"from_user", engine.user},
      {"from_host", engine.host}}.dump();
  journal->append({0, system_clock().now(), journal::Kind::taken_over, "", 0, change});
  if (!journal->commit(true)) throw Error("the disk is full: nothing was taken over");
  if (options.json)
    fmt::print("{}\n", change);
  else
    fmt::print("{} is yours. 'godwit run' goes on with it.\n", opened.view.dag().name);
  return kSuccess;
}

}  // namespace

void add_take_over(CLI::App& root, Action& action) {
  CLI::App* command =
      add_command(root, "take-over", "Go on with an experiment that was a colleague's, or another host's",
                  "godwit take-over --stop-first");
  auto options = std::make_shared<Options>();
  command->add_option("--experiment", options->file, "The experiment's file or folder (default: here)")
      ->type_name("FILE");
  command->add_flag("--stop-first", options->stop_first, "Ask an engine that is at work to stop, and wait for its end");
  command->add_flag("--yes", options->yes, "Without asking");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return take_over(*options); }; });
}

}  // namespace godwit::cli
