// godwit stop: running jobs checkpoint and leave; the experiment can go on later.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/cli/command.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/living.h"
#include "godwit/cli/progress.h"
#include "godwit/cli/session.h"
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
    fmt::print("{}\n", Json{{"stopped", true}, {"message", what}}.dump());
  else
    fmt::print("{}\n", what);
  return kSuccess;
}

// The engine at work does it; this waits for its end.
int ask_engine(const journal::StateDir& state, const Options& options) {
  journal::drop_request(state, {{"what", options.now ? "stop_now" : "stop"}});
  if (!options.json) fmt::print("Asked the running engine to stop; its jobs checkpoint first …\n");
  std::fflush(stdout);
  Clock& clock = system_clock();
  while (journal::engine_at_work(state)) clock.sleep_until(clock.monotonic() + kLookAgain);
  return report(options, "Stopped. 'godwit run' goes on.");
}

// Jobs may run on without their engine (after 'run --once', or where it was killed): this process takes its place.
int stop_jobs(const journal::StateDir& state, const Options& options) {
  if (!state.has_journal())
    throw InputError("nothing has been started in " + state.folder(), "'godwit run' starts an experiment");
  experiment::LoadOptions load = options.load;
  load.limit = std::numeric_limits<std::uint64_t>::max();  // what runs may be stopped, however much there is
  const Living living = load_living(load);
  require_own_state(living);
  const experiment::Planned& planned = living.planned;
  Progress progress(planned.graph, Progress::Mode::quiet, {});
  Session session(planned, progress, {.stop_only = true});
  if (options.now) session.engine().interrupt(), session.engine().interrupt();
  session.engine().run();
  return report(options, "Nothing is running any more. 'godwit run' goes on.");
}

int stop_experiment(const Options& options) {
  const journal::StateDir state = journal::StateDir::beside(experiment::find_experiment(options.load.file));
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
