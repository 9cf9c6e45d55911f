// godwit run: starts an experiment, or goes on with it.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/cli/background.h"
#include "godwit/cli/command.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/interrupts.h"
#include "godwit/cli/left_results.h"
#include "godwit/cli/living.h"
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

// What would start first, without starting it.
int print_dry_run(const experiment::Planned& planned, bool as_json) {
  const dag::Graph& graph = planned.graph;
  Json sites = Json::object(), first = Json::array();
  std::vector<std::size_t> jobs(graph.sites().size());
  for (dag::NodeId node = 0; node < graph.size(); ++node) {
    ++jobs[graph.planned_site(node)];
    if (graph.parents(node).empty() && first.size() < 20)
      first.push_back({{"node", graph.name_of(node)}, {"site", graph.sites()[graph.planned_site(node)]}});
  }
  for (dag::SiteId site = 0; site < graph.site_count(); ++site) sites[graph.sites()[site]] = jobs[site];
  if (as_json) {
    fmt::print("{}\n", Json{{"jobs", graph.size()}, {"jobs_per_site", sites}, {"first", first}}.dump());
    return kSuccess;
  }
  fmt::print("{} would run:\n", format_count(graph.size(), "job"));
  for (const auto& [site, count] : sites.items())
    fmt::print("  {:<16} {}\n", site, format_count(count.get<std::size_t>(), "job"));
  fmt::print("First:\n");
  for (const Json& entry : first)
    fmt::print("  {:<24} at {}\n", entry["node"].get<std::string>(), entry["site"].get<std::string>());
  return kSuccess;
}

// The last lines, on standard output, since the result is what was asked for.
int conclude(engine::RunEnd end, const engine::Counts& counts, const Options& options) {
  if (!options.json && !options.quiet) {
    switch (end) {
      case engine::RunEnd::succeeded:
        fmt::print("{} 'godwit compare' shows what came out.\n",
                   counts.pruned != 0
                       ? fmt::format("{} done, {} not needed.", format_count(counts.done, "job"), counts.pruned)
                   : counts.done == 1 ? "The only job is done."
                                      : fmt::format("All {} jobs are done.", counts.done));
        break;
      case engine::RunEnd::failed:
        fmt::print("{} done, {} failed, {} futile. 'godwit why' explains; 'godwit retry --failed' runs them again.\n",
                   format_count(counts.done, "job"), counts.failed, counts.futile);
        break;
      case engine::RunEnd::stopped:
        fmt::print("Stopped with {} done, {} failed, {} to go. 'godwit run' goes on.\n",
                   format_count(counts.done, "job"), counts.failed, counts.waiting + counts.ready + counts.running);
        break;
      case engine::RunEnd::paused:
        fmt::print("{} done; the {} left belong to runs that are paused. 'godwit promote RUN', then 'godwit run'.\n",
                   format_count(counts.done, "job"), counts.waiting + counts.ready);
        break;
      case engine::RunEnd::once:
        fmt::print(
            "Under way: {} done, {} failed, {} running, {} to go. 'godwit run --once' again takes the next step.\n",
            format_count(counts.done, "job"), counts.failed, counts.running, counts.waiting + counts.ready);
        break;
    }
  }
  switch (end) {
    case engine::RunEnd::succeeded:
    case engine::RunEnd::once:
      return kSuccess;
    case engine::RunEnd::failed:
      return kFailed;
    case engine::RunEnd::stopped:
    case engine::RunEnd::paused:
      return kInterrupted;
  }
  return kFailed;
}

// Shows what an edit changes and asks whether to go on with it so. Throws InputError where nobody can be asked.
bool consent(const Living& living, const Options& options) {
  const engine::Edit& edit = *living.edit;
  if (journal::engine_at_work(state_of(living.planned)))
    throw InputError("an engine is at work on this experiment as it was before it was edited",
                     "'godwit stop', then 'godwit run' again");
  if (options.json)
    fmt::print("{}\n", Json{{"edit", engine::to_json(edit)}}.dump());
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
  for (const Diagnostic& warning : planned.warnings) fmt::print(stderr, "{}\n", warning.render());
  experiment::require_runnable(planned);
  experiment::find_secrets(planned.spec);  // a missing one is said before anything starts, in the foreground
  if (options.dry_run) return print_dry_run(planned, options.json);
  if (!consent_to_begin_anew(living, options) || (living.edit && !consent(living, options))) {
    fmt::print(stderr, "Nothing was changed.\n");
    return kInterrupted;
  }
  if (!options.detach) return run_here(living, options, nullptr);
  state_of(planned).create();
  return run_in_background(state_of(planned).path() + "/engine.log",
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
  command->add_flag("--dry-run", options->dry_run,
                    "Check everything and show what would start first; with --json, as one line");
  command->add_flag(
      "--yes", options->yes,
      "Without asking: go on with an experiment that was edited, or begin one anew whose journal is gone");
  command->add_flag("--quiet", options->quiet, "Say nothing but errors");
  command->add_flag("--json", options->json, "Print every event as a line of JSON");
  command->callback([&action, options] { action = [options] { return run_experiment(*options); }; });
}

}  // namespace godwit::cli
