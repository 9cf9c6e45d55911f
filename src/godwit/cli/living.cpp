#include "godwit/cli/living.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "godwit/base/printable.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/cli/table.h"
#include "godwit/experiment/code.h"
#include "godwit/journal/journal.h"
#include "godwit/journal/state_dir.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;

std::optional<journal::View> view_of(const journal::StateDir& state) {
  const auto reader = journal::Reader::open_if_any(state.journal());
  if (!reader) return std::nullopt;
  journal::View view;
  view.update(*reader);
  if (view.dag().uuid.empty()) return std::nullopt;
  return view;
}

// What the state beside an experiment's file knows of it; else whose it is.
struct Known {
  std::optional<journal::View> before;
  std::string other;
};

Known known_of(const std::string& file) {
  std::optional<journal::View> view = view_of(journal::StateDir::beside(file));
  if (!view) return {};
  std::string of = fs::path(view->dag().file).filename();
  if (of != fs::path(file).filename()) return {std::nullopt, std::move(of)};
  return {std::move(view), {}};
}

std::optional<engine::Edit> edit_of(const Living& living) {
  if (!living.before || !engine::is_edit(*living.before, living.planned.graph, living.code)) return std::nullopt;
  return engine::compare_definitions(*living.before, living.planned.graph, living.planned.source, living.code);
}

Style style_of(engine::Fate fate) {
  switch (fate) {
    case engine::Fate::kept:
      return Style::faint;
    case engine::Fate::orphaned:
    case engine::Fate::shortened:
      return Style::bad;
    case engine::Fate::changed:
      return Style::note;
    default:
      return Style::good;
  }
}

std::string difference_text(const Difference& difference, const Terminal& terminal) {
  const auto line = [&](const std::string& text) {
    return fmt::format("    {}\n", styled(text, text.front() == '-' ? Style::bad : Style::good, terminal));
  };
  if (difference.lines.empty()) {
    const std::string path = printable(difference.path);
    const std::string before = printable(difference.before), after = printable(difference.after);
    if (before.empty()) return fmt::format("  {}: {} (new)\n", path, after);
    if (after.empty()) return fmt::format("  {}: {} (gone)\n", path, before);
    return fmt::format("  {}: {} → {}\n", path, before, before == after ? after + ", other content" : after);
  }
  std::string out = fmt::format("  {}:\n", printable(difference.path));
  for (const std::string& text : difference.lines) out += line(printable(text));
  return out;
}

std::string epochs_text(const engine::RunEdit& run) {
  if (run.fate == engine::Fate::added) return std::to_string(run.epochs_now);
  if (run.fate == engine::Fate::orphaned || run.epochs_now == run.epochs_before)
    return fmt::format("{}/{}", run.epochs_done, run.epochs_before);
  return fmt::format("{}/{} → {}", run.epochs_done, run.epochs_before, run.epochs_now);
}

// Where not all fit: what changes before what is kept, in the order of their numbers.
std::vector<const engine::RunEdit*> shown(const engine::Edit& edit, std::size_t rows) {
  std::vector<const engine::RunEdit*> out;
  for (const engine::RunEdit& run : edit.runs) out.push_back(&run);
  if (out.size() <= rows) return out;
  std::stable_partition(out.begin(), out.end(), [](const auto* run) { return run->fate != engine::Fate::kept; });
  out.resize(rows);
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
  return out;
}

std::string counts_text(const engine::Edit& edit) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < engine::kFates; ++i)
    if (const std::size_t count = edit.count(static_cast<engine::Fate>(i)); count != 0)
      parts.push_back(fmt::format("{} {}", count, engine::to_string(static_cast<engine::Fate>(i))));
  return join(parts, ", ");
}

}  // namespace

Living load_living(experiment::LoadOptions options) {
  const std::string file = experiment::find_experiment(options.file);
  Known known = known_of(file);
  dag::Earlier earlier;
  if (known.before) {
    earlier = engine::earlier_plan(*known.before);
    options.earlier = &earlier;
  }
  Living living{experiment::load_and_plan(options), Json::array(), std::move(known.before), std::nullopt,
                std::move(known.other)};
  living.code = experiment::code_of(living.planned.files, living.planned.spec.directory);
  living.edit = edit_of(living);
  return living;
}

void require_own_state(const Living& living) {
  if (living.other.empty()) return;
  throw InputError(
      fmt::format("the state beside {} is of {}", fs::path(living.planned.spec.file).filename().native(), living.other),
      "an experiment of its own needs a folder of its own");
}

std::string edit_text(const engine::Edit& edit, std::size_t rows, const Terminal& terminal) {
  std::string out = styled("Changed since it was started", Style::strong, terminal) + "\n";
  for (const Difference& difference : edit.definition) out += difference_text(difference, terminal);
  for (const Difference& difference : edit.code) out += difference_text(difference, terminal);
  if (edit.definition.empty() && edit.code.empty())
    out += "  nothing in its files: another version of Godwit makes other jobs of them\n";
  Table table({{"RUN", Align::right},
               {"RUN_UUID"},
               {"VALUES", Align::left, true},
               {"EPOCHS", Align::right},
               {"RUN IS"},
               {"WHY", Align::left, true}});
  for (const engine::RunEdit* run : shown(edit, rows))
    table.add_row({{std::to_string(run->number)},
                   {run->uuid},
                   {values_text(run->values)},
                   {epochs_text(*run)},
                   {std::string(engine::to_string(run->fate)), style_of(run->fate)},
                   {run->why}});
  out += "\n" + table.render(terminal);
  if (edit.runs.size() > rows)
    out += fmt::format("… and {} (--json has all)\n", format_count(edit.runs.size() - rows, "more run"));
  out += fmt::format("\nRuns: {}. {} to run; nothing that is finished runs again.\n", counts_text(edit),
                     format_count(edit.jobs_to_run, "job"));
  if (edit.leaving != 0)
    out += fmt::format("{} that the experiment no longer has will be stopped.\n",
                       format_count(edit.leaving, "running job"));
  if (edit.failed != 0)
    out +=
        fmt::format("{} failed and {} so: 'godwit retry --failed' runs {} again.\n", format_count(edit.failed, "job"),
                    edit.failed == 1 ? "stays" : "stay", edit.failed == 1 ? "it" : "them");
  return out;
}

}  // namespace godwit::cli
