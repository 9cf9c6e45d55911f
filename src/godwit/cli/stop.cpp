// godwit stop: running jobs checkpoint and leave; the experiment can go on later.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/cli/command.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/living.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/owner.h"
#include "godwit/cli/progress.h"
#include "godwit/cli/session.h"
#include "godwit/cli/terminal.h"
#include "godwit/jobs/send_away.h"
#include "godwit/journal/engine_status.h"

namespace godwit::cli {
namespace {

constexpr Micros kLookAgain = 100'000;

struct Options {
  experiment::LoadOptions load;
  bool now = false;
  bool json = false;
};

int report(const Options& options, const std::string& what) {
  if (options.json)
    fmt::print("{}\n", dump(Json{{"stopped", true}, {"message", what}}));
  else
    fmt::print("{}\n", what);
  return kSuccess;
}

// The engine at work does it; this waits for its end.
int ask_engine(const journal::StateDir& state, const Options& options) {
  journal::drop_request(state, {{"what", options.now ? "stop_now" : "stop"}});
  if (!options.json) fmt::print("Asked the running engine to stop; its jobs checkpoint first …\n");
  flush_output();
  Clock& clock = system_clock();
  while (journal::engine_at_work(state)) clock.sleep_until(clock.monotonic() + kLookAgain);
  return report(options, "Stopped. 'godwit run' goes on.");
}

// Nothing where the experiment's file is gone or broken.
std::optional<Living> definition(const Options& options) {
  experiment::LoadOptions load = options.load;
  load.limit = std::numeric_limits<std::uint64_t>::max();  // what runs may be stopped, however much there is
  try {
    return load_living(load);
  } catch (const InputError&) {
    if (!options.load.sites_file.empty()) throw;
    return std::nullopt;
  }
}

// What the journal knows to run is ended all the same. The engine that goes on finds what became of it.
int send_jobs_away(const Opened& opened, const Options& options) {
  const auto writer = journal::Journal::open(opened.state.journal(), {"godwit stop", false, {}, {}});
  std::vector<std::string> keys;
  for (const journal::Attempt& attempt : opened.view.attempts()) {
    const auto phase = jobs::phase_from(opened.view.text(attempt.phase));
    if (attempt.has_ended() || !phase) continue;
    const std::string node(opened.view.name_of(attempt.node));
    keys.push_back(jobs::AttemptKey{opened.view.dag().uuid, node, attempt.number, *phase}.text());
  }
  jobs::send_away(opened.state.path(), keys, options.now);
  return report(options, "Nothing is running any more. 'godwit run' goes on, once the experiment's file can be read.");
}

// Jobs may run on without their engine (after 'run --once', or where it was killed): this process takes its place.
int stop_jobs(const journal::StateDir& state, const Options& options) {
  if (!state.has_journal())
    throw InputError("nothing has been started in " + state.folder(), "'godwit run' starts an experiment");
  const std::optional<Living> living = definition(options);
  if (!living) return send_jobs_away(open_journal(options.load.file), options);
  require_own_state(*living);
  if (living->before) require_owner(*living->before);
  const experiment::Planned& planned = living->planned;
  Progress progress(planned.graph, Progress::Mode::quiet, {});
  Session session(planned, progress, {.stop_only = true});
  if (options.now) session.engine().interrupt(), session.engine().interrupt();
  session.engine().run();
  return report(options, "Nothing is running any more. 'godwit run' goes on.");
}

int stop_experiment(const Options& options) {
  const std::string& file = options.load.file;
  const journal::StateDir state = find_state(file);
  if (!file.empty() && !std::filesystem::exists(file)) open_journal(file);  // throws where the state is not its own
  return journal::engine_at_work(state) ? ask_engine(state, options) : stop_jobs(state, options);
}

}  // namespace

void add_stop(CLI::App& root, Action& action) {
  CLI::App* command =
      add_command(root, "stop", "Stop a running experiment; 'godwit run' goes on with it", "godwit stop --now");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->load);
  command->add_flag("--now", options->now, "Kill running jobs at once instead of letting them checkpoint");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return stop_experiment(*options); }; });
}

}  // namespace godwit::cli
