// godwit rehearse: the experiment in small on each of its sites, before it begins.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/cli/command.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/interrupts.h"
#include "godwit/cli/progress.h"
#include "godwit/cli/rehearsed.h"
#include "godwit/cli/session.h"
#include "godwit/cli/table.h"
#include "godwit/cli/terminal.h"
#include "godwit/journal/engine_status.h"
#include "godwit/journal/explain.h"
#include "godwit/journal/journal.h"
#include "godwit/report/format.h"
#include "godwit/report/rehearsal.h"
#include "godwit/store/atomic_file.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;

using report::RehearsalStep;
using report::RehearsedSite;

constexpr std::size_t kEvidenceLines = 5;

struct Options {
  experiment::LoadOptions load;
  bool json = false;
  bool quiet = false;
};

Cell step_cell(const RehearsalStep& step) {
  switch (step.result) {
    case RehearsalStep::Result::passed:
      return {"yes", Style::good};
    case RehearsalStep::Result::failed:
      return {"no", Style::bad};
    case RehearsalStep::Result::not_reached:
      return {"not reached", Style::faint};
  }
  return {};
}

std::string memory_text(const RehearsedSite& site) {
  const std::uint64_t peak = std::max(site.begins.peak_memory_kb, site.resumes.peak_memory_kb);
  if (peak == 0) return {};
  const std::string text = format_bytes(peak * 1024);
  const std::uint64_t asked = std::max(site.begins.asked_memory_mb, site.resumes.asked_memory_mb);
  return asked == 0 ? text : fmt::format("{} of {}", text, format_memory_mb(asked));
}

// "as north", "1.2e-07 (val_loss of epoch 1)": beside the first site.
std::string divergence_text(const std::optional<report::Divergence>& divergence, std::string_view reference) {
  if (!divergence) return {};
  if (divergence->relative == 0) return fmt::format("as {}", reference);
  return fmt::format("{:.1e} ({})", divergence->relative, divergence->metric);
}

void print(const report::Rehearsal& rehearsal, const experiment::Planned& planned) {
  const Terminal terminal = terminal_of(stdout);
  Table table({{"SITE"},
               {"BEGINS"},
               {"RESUMES"},
               {"EVALUATES"},
               {"TIME/EPOCH", Align::right},
               {"MEMORY", Align::right},
               {"CHECKPOINT", Align::right},
               {"TRAINING DIFFERS", Align::left, true},
               {"WEIGHTS DIFFER"},
               {"GOLDEN DIFFERS", Align::left, true}});
  const std::string& reference = rehearsal.sites.front().name;
  for (const RehearsedSite& site : rehearsal.sites) {
    std::string weights = site.weights ? fmt::format("{:.1e}", *site.weights) : std::string();
    if (site.same_bytes) weights = fmt::format("as {}", reference);
    table.add_row({{site.name, Style::strong},
                   step_cell(site.begins),
                   step_cell(site.resumes),
                   site.evaluates ? step_cell(*site.evaluates) : Cell{},
                   {site.epoch_s > 0 ? format_duration(site.epoch_s) : ""},
                   {memory_text(site)},
                   {site.checkpoint_bytes == 0 ? "" : format_bytes(site.checkpoint_bytes)},
                   {divergence_text(site.training, reference)},
                   {weights},
                   {divergence_text(site.golden, reference)}});
  }
  fmt::print("{}", table.render(terminal));
  for (const std::string& note : rehearsal.notes) fmt::print("{} {}\n", styled("note:", Style::note, terminal), note);
  for (const std::string& fault : rehearsal.faults)
    fmt::print("{} {}\n", styled("fault:", Style::bad, terminal), fault);
  if (rehearsal.passed())
    fmt::print("Rehearsed at {}; 'godwit plan' has a forecast, 'godwit run' begins.\n",
               format_count(planned.sites.size(), "site"));
}

// The last lines that failed jobs wrote.
void print_evidence(const journal::View& view, const journal::StateDir& state) {
  const journal::Explainer explainer(view, state, journal::engine_status(state, view), 0);
  for (journal::NodeIndex node = 0; node < view.nodes().size(); ++node) {
    if (view.nodes()[node].state != journal::NodeState::failed) continue;
    const journal::Explanation why = explainer.node(node);
    if (why.evidence.empty()) continue;
    fmt::print("\n{}:\n", why.evidence_file);
    const std::size_t from = why.evidence.size() - std::min(why.evidence.size(), kEvidenceLines);
    for (std::size_t i = from; i < why.evidence.size(); ++i) fmt::print("  {}\n", report::printable(why.evidence[i]));
  }
}

journal::StateDir fresh_state(const experiment::Planned& planned) {
  const journal::StateDir outer = state_of(planned);
  const journal::StateDir inner = outer.inner(std::string(experiment::kRehearsalFolder));
  if (fs::exists(inner.journal()) && journal::engine_at_work(inner))
    throw InputError("a rehearsal of this experiment is under way", "wait until it ends, or interrupt it");
  outer.create();
  std::error_code error;
  fs::remove_all(inner.path(), error);
  if (error) throw SystemError("cannot remove " + inner.path(), error.value());
  return inner;
}

int rehearse(Options options) {
  options.load.rehearse = true;
  const experiment::Planned planned = experiment::load_and_plan(options.load);
  experiment::require_runnable(planned);
  const journal::StateDir state = fresh_state(planned);
  const auto mode = options.json || options.quiet ? Progress::Mode::quiet
                    : isatty(STDERR_FILENO) == 1  ? Progress::Mode::live
                                                  : Progress::Mode::plain;
  {
    Progress progress(planned.graph, mode, terminal_of(stderr), false);
    Session session(planned, progress, {.state = state});
    const Interrupts interrupts(session.engine());
    if (session.engine().run() == engine::RunEnd::stopped) {
      fmt::print(stderr, "The rehearsal was interrupted.\n");
      return kInterrupted;
    }
  }
  journal::View view;
  view.update(*journal::Reader::open(state.journal()));
  report::RehearsalLayout layout;
  layout.results = planned.spec.directory + "/" + planned.spec.results;
  layout.checkpoint = planned.spec.checkpoint.path;
  layout.epochs = planned.spec.rehearsal ? planned.spec.rehearsal->epochs : 1;
  layout.evaluates = planned.spec.evaluation.has_value();
  for (const sites::Site& site : planned.sites) layout.sites.push_back(site.name);
  const report::Rehearsal rehearsal = report::read_rehearsal(view, layout);
  store::write_file(rehearsal_record(state_of(planned)), report::to_json(rehearsal).dump(2) + "\n");
  if (options.json) {
    fmt::print("{}\n", dump(report::to_json(rehearsal)));
  } else if (!options.quiet || !rehearsal.passed()) {
    print(rehearsal, planned);
    print_evidence(view, state);
  }
  return rehearsal.passed() ? kSuccess : kFailed;
}

}  // namespace

void add_rehearse(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "rehearse", "Run the experiment in small at each of its sites first",
                                  "godwit rehearse experiment.yaml");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->load);
  command->add_flag("--quiet", options->quiet, "Say nothing unless something is wrong");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return rehearse(*options); }; });
}

}  // namespace godwit::cli
