// godwit run: starts an experiment, or goes on with it.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/cli/background.h"
#include "godwit/cli/command.h"
#include "godwit/cli/dry_run.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/interrupts.h"
#include "godwit/cli/left_results.h"
#include "godwit/cli/living.h"
#include "godwit/cli/owner.h"
#include "godwit/cli/progress.h"
#include "godwit/cli/question.h"
#include "godwit/cli/session.h"
#include "godwit/cli/terminal.h"
#include "godwit/experiment/plan.h"
#include "godwit/experiment/secrets.h"
#include "godwit/journal/engine_status.h"

namespace godwit::cli {
namespace {

struct Options {
  experiment::LoadOptions load;
  bool detach = false;
  bool once = false;
  bool quiet = false;
  bool json = false;
  bool dry_run = false;
  bool yes = false;
};

constexpr std::size_t kRunsShown = 40;  // of an edit

Progress::Mode mode_of(const Options& options) {
  if (options.json) return Progress::Mode::json;
  if (options.quiet) return Progress::Mode::quiet;
  return isatty(STDERR_FILENO) == 1 ? Progress::Mode::live : Progress::Mode::plain;
}

std::string_view word_of(engine::RunEnd end) {
  switch (end) {
    case engine::RunEnd::succeeded:
      return "succeeded";
    case engine::RunEnd::failed:
      return "failed";
    case engine::RunEnd::stopped:
      return "stopped";
    case engine::RunEnd::paused:
      return "paused";
    case engine::RunEnd::once:
      return "once";
  }
  return "";
}

std::string sentence_of(engine::RunEnd end, const engine::Counts& counts) {
  const std::string done = format_count(counts.done, "job");
  switch (end) {
    case engine::RunEnd::succeeded:
      return fmt::format("{} 'godwit compare' shows what came out.",
                         counts.pruned != 0 ? fmt::format("{} done, {} not needed.", done, counts.pruned)
                         : counts.done == 1 ? "The only job is done."
                                            : fmt::format("All {} jobs are done.", counts.done));
    case engine::RunEnd::failed:
      return fmt::format(
          "{} done, {} failed, {} futile. 'godwit why' explains; 'godwit retry --failed' runs them again.", done,
          counts.failed, counts.futile);
    case engine::RunEnd::stopped:
      return fmt::format("Stopped with {} done, {} failed, {} to go. 'godwit run' goes on.", done, counts.failed,
                         counts.waiting + counts.ready + counts.running);
    case engine::RunEnd::paused:
      return fmt::format(
          "{} done; the {} left belong to runs that are paused. 'godwit promote RUN', then 'godwit run'.", done,
          counts.waiting + counts.ready);
    case engine::RunEnd::once:
      return fmt::format(
          "Under way: {} done, {} failed, {} running, {} to go. 'godwit run --once' again takes the next step.", done,
          counts.failed, counts.running, counts.waiting + counts.ready);
  }
  return {};
}

Json result_json(engine::RunEnd end, const engine::Counts& counts) {
  return {{"result", word_of(end)},
          {"done", counts.done},
          {"failed", counts.failed},
          {"futile", counts.futile},
          {"pruned", counts.pruned},
          {"running", counts.running},
          {"to_go", counts.waiting + counts.ready}};
}

// The last line, on standard output, since the result is what was asked for; where only errors are, an error.
int conclude(engine::RunEnd end, const engine::Counts& counts, const Options& options) {
  const bool success = end == engine::RunEnd::succeeded || end == engine::RunEnd::once;
  if (options.json)
    fmt::print("{}\n", dump(result_json(end, counts)));
  else if (!options.quiet)
    fmt::print("{}\n", sentence_of(end, counts));
  else if (end == engine::RunEnd::failed)
    fmt::print(stderr, "error: {}\n", sentence_of(end, counts));
  if (success) return kSuccess;
  return end == engine::RunEnd::failed ? kFailed : kInterrupted;
}

// Shows what an edit changes and asks whether to go on with it so. Throws InputError where nobody can be asked.
bool consent(const Living& living, const Options& options) {
  const engine::Edit& edit = *living.edit;
  if (journal::engine_at_work(state_of(living.planned)))
    throw InputError("an engine is at work on this experiment as it was before it was edited",
                     "'godwit stop', then 'godwit run' again");
  if (options.json)
    fmt::print("{}\n", dump(Json{{"edit", engine::to_json(edit)}}));
  else if (!options.quiet)
    fmt::print(stderr, "{}\n", edit_text(edit, kRunsShown, terminal_of(stderr)));
  if (options.yes) return true;
  if (!options.json && !options.quiet && can_ask()) return ask("Go on with it so?");
  throw InputError("the experiment is not what it was when it was started",
                   "'godwit plan' shows what differs; 'godwit run --yes' goes on with it so");
}

// Where the journal is gone and what was computed is not, nobody but a person knows whether to begin anew. Throws
// InputError where nobody can be asked.
bool consent_to_begin_anew(const Living& living, const Options& options) {
  if (living.before || options.yes) return true;
  const LeftResults left = left_results(living.planned);
  if (left.runs == 0) return true;
  const std::string what = fmt::format(
      "there is no journal in {}, but runs/ has checkpoints of {} of this experiment's {} ({}): they would be computed "
      "again and overwritten",
      state_of(living.planned).path(), left.runs, format_count(living.planned.graph.runs().size(), "run"),
      left.example);
  if (!options.json && !options.quiet && can_ask()) {
    fmt::print(stderr, "{}\n", what);
    return ask("Begin anew?");
  }
  throw InputError(what, "put the journal (.godwit) back, or move runs/ away; 'godwit run --yes' begins anew");
}

int run_here(const Living& living, const Options& options, Background* background) {
  const experiment::Planned& planned = living.planned;
  Progress progress(planned.graph, mode_of(options), terminal_of(stderr));
  SessionOptions session_options{.once = options.once, .stop_only = false, .code = living.code, .edit_of = {}};
  if (living.edit) session_options.edit_of = living.edit->revision;
  Session session(planned, progress, std::move(session_options));
  if (background != nullptr) background->ready();
  const Interrupts interrupts(session.engine());
  const engine::RunEnd end = session.engine().run();
  return conclude(end, session.engine().plan().counts(), options);
}

int run_experiment(const Options& options) {
  const Living living = load_living(options.load);
  const experiment::Planned& planned = living.planned;
  require_own_state(living);
  if (!options.quiet)
    for (const Diagnostic& warning : planned.warnings) fmt::print(stderr, "{}\n", warning.render());
  experiment::require_runnable(planned);
  experiment::find_secrets(planned.spec);  // a missing one is said before anything starts, in the foreground
  if (options.dry_run) {
    print_dry_run(living, options.json);
    return kSuccess;
  }
  if (living.before) require_owner(*living.before);
  if (!consent_to_begin_anew(living, options) || (living.edit && !consent(living, options))) {
    fmt::print(stderr, "Nothing was changed.\n");
    return kInterrupted;
  }
  if (!options.detach) return run_here(living, options, nullptr);
  state_of(planned).create();
  const std::string log = state_of(planned).path() + "/engine.log";
  const auto say_begun = [&](pid_t process) {
    if (options.json)
      fmt::print("{}\n", dump(Json{{"process", process}, {"log", log}}));
    else if (!options.quiet)
      fmt::print("Running in the background as process {}; its log is {}.\n", process, log);
  };
  return run_in_background(log, say_begun,
                           [&](Background& background) { return run_here(living, options, &background); });
}

}  // namespace

void add_run(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "run", "Run an experiment, or go on with one that was interrupted",
                                  "godwit run experiment.yaml");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->load);
  auto* detach =
      command->add_flag("--detach", options->detach, "Run in the background; 'godwit status --watch' follows it");
  command->add_flag("--once", options->once, "One step, for cron: record what ended, start what may, leave it running")
      ->excludes(detach);
  command->add_flag(
      "--dry-run", options->dry_run,
      "Check everything and show what is left to run and what would start first; with --json, as one line");
  command->add_flag(
      "--yes", options->yes,
      "Without asking: go on with an experiment that was edited, or begin one anew whose journal is gone");
  command->add_flag("--quiet", options->quiet, "Say nothing but errors");
  command->add_flag("--json", options->json, "Print every event as a line of JSON, and the result as the last");
  command->callback([&action, options] { action = [options] { return run_experiment(*options); }; });
}

}  // namespace godwit::cli
