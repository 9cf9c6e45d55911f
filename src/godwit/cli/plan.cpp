#include "godwit/experiment/plan.h"

#include <fmt/format.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/printable.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/checkpoint_sizes.h"
#include "godwit/cli/command.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/living.h"
#include "godwit/cli/rehearsed.h"
#include "godwit/cli/table.h"
#include "godwit/dag/render.h"
#include "godwit/experiment/disk_forecast.h"
#include "godwit/experiment/summary.h"

namespace godwit::cli {
namespace {

using experiment::Planned;
using experiment::Summary;

constexpr std::size_t kRunsShown = 10;
constexpr std::size_t kValuesShown = 8;
constexpr std::size_t kStopsShown = 12;

struct Options {
  experiment::LoadOptions load;
  bool json = false;
  bool nodes = false;
  std::string picture;  // a format's name
};

std::string sites_text(const Planned& planned) {
  if (!planned.sites_file.empty()) return "sites from " + planned.sites_file;
  return planned.spec.inline_sites ? "sites from the experiment itself" : "no sites described: this machine";
}

void print_heading(const Planned& planned, const Summary& summary, const Terminal& terminal) {
  const auto text = [](std::uint64_t count, std::string_view noun) { return format_count(count, noun); };
  fmt::print("{}: {}", styled(printable(planned.spec.name), Style::strong, terminal),
             text(summary.runs, "training run"));
  if (summary.baseline_runs != 0)
    fmt::print(" ({} migrate, {} stay at {})", summary.runs - summary.baseline_runs, summary.baseline_runs,
               planned.spec.baseline->name);
  fmt::print(", {}", text(summary.training_jobs, "training job"));
  if (summary.evaluation_jobs != 0) fmt::print(", {}", text(summary.evaluation_jobs, "evaluation job"));
  if (summary.services != 0) fmt::print(", {}", text(summary.services, "service"));
  const std::string jobs = summary.fewest_jobs == summary.most_jobs
                               ? text(summary.most_jobs, "job")
                               : fmt::format("{} to {}", summary.fewest_jobs, text(summary.most_jobs, "job"));
  fmt::print("\n{} a run; placement {}; {}\n", jobs, to_string(planned.placement.rule), sites_text(planned));
}

void print_variables(const Planned& planned, const Terminal& terminal) {
  if (planned.variables.empty()) return;
  fmt::print("\n{}\n",
             styled(planned.shape.empty() ? "Variables" : "Variables: " + planned.shape, Style::strong, terminal));
  Table table({{"NAME"}, {"TYPE"}, {"COUNT", Align::right}, {"VALUES", Align::left, true}, {"", Align::left, true}});
  for (const experiment::VariableSummary& variable : planned.variables) {
    const std::size_t shown = std::min(kValuesShown, variable.values.size());
    std::string values = join(std::span(variable.values).first(shown), ", ");
    if (variable.count > shown) values += ", …";
    table.add_row({{variable.name},
                   {variable.type},
                   {std::to_string(variable.count)},
                   {values},
                   {variable.description, Style::faint}});
  }
  fmt::print("{}", table.render(terminal));
}

std::string unless_zero(std::uint64_t number, const std::string& text) {
  return number == 0 ? "" : text;
}

void print_sites(const Planned& planned, const Summary& summary, const Terminal& terminal) {
  fmt::print("\n{}\n", styled("Sites, and what a job is given there", Style::strong, terminal));
  Table table({{"SITE"},
               {"EXECUTOR"},
               {"TRAIN", Align::right},
               {"EVAL", Align::right},
               {"CPUS", Align::right},
               {"MEMORY", Align::right},
               {"DISK", Align::right},
               {"GPUS", Align::right}});
  for (std::size_t i = 0; i < planned.sites.size(); ++i) {
    const jobs::ResourceSpec& asked = planned.asked[i];
    const experiment::SiteLoad& load = summary.at_site[i];
    table.add_row({{planned.sites[i].name},
                   {planned.sites[i].executor},
                   {std::to_string(load.training_jobs)},
                   {unless_zero(summary.evaluation_jobs, std::to_string(load.evaluation_jobs))},
                   {unless_zero(asked.cpus, std::to_string(asked.cpus))},
                   {unless_zero(asked.memory_mb, format_memory_mb(asked.memory_mb))},
                   {unless_zero(asked.disk_kb, format_bytes(asked.disk_kb * 1024))},
                   {unless_zero(asked.gpus, std::to_string(asked.gpus))}});
  }
  fmt::print("{}", table.render(terminal));
}

// "north → south × 3 → north"
std::string path_text(const Planned& planned, const std::vector<dag::SiteId>& path) {
  std::vector<std::string> stops;
  for (std::size_t begin = 0, end = 0; begin < path.size(); begin = end) {
    if (stops.size() == kStopsShown) {
      stops.emplace_back("…");
      break;
    }
    while (end < path.size() && path[end] == path[begin]) ++end;
    const std::string& site = planned.graph.sites()[path[begin]];
    stops.push_back(end - begin == 1 ? site : fmt::format("{} × {}", site, end - begin));
  }
  return join(stops, " → ");
}

// The variables that differ between runs.
std::vector<std::size_t> varying(const Planned& planned) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < planned.variables.size(); ++i)
    if (planned.variables[i].count > 1) out.push_back(i);
  return out;
}

void print_runs(const Planned& planned, const Terminal& terminal) {
  const std::size_t all = planned.graph.runs().size();
  const std::string title = all > kRunsShown ? fmt::format("The first {} of {} runs", kRunsShown, all) : "Runs";
  fmt::print("\n{}\n", styled(title, Style::strong, terminal));
  const std::vector<std::size_t> columns_of = varying(planned);
  std::vector<Column> columns{{"RUN", Align::right}, {"RUN_UUID"}};
  for (const std::size_t i : columns_of) columns.push_back({planned.variables[i].name, Align::right});
  columns.push_back({"SITES", Align::left, true});
  columns.push_back({""});
  Table table(std::move(columns));
  const auto paths = experiment::site_paths(planned, kRunsShown);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const dag::Run& run = planned.graph.runs()[i];
    std::vector<Cell> cells{{std::to_string(run.number)}, {run.uuid}};
    for (const std::size_t variable : columns_of) cells.emplace_back(run.values[variable].second);
    cells.emplace_back(path_text(planned, paths[i]));
    cells.emplace_back(run.baseline ? "baseline" : "", Style::faint);
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.render(terminal));
}

// The same under a title; severities are said by it.
void print_diagnostics(const std::vector<Diagnostic>& diagnostics, const char* title, Style style,
                       const Terminal& terminal) {
  if (diagnostics.empty()) return;
  fmt::print("\n{}\n", styled(title, style, terminal));
  for (const Diagnostic& diagnostic : diagnostics) {
    std::string where = diagnostic.position.text();
    if (!where.empty()) where += ": ";
    const std::string text = diagnostic.text.empty() ? "" : ": '" + diagnostic.text + "'";
    fmt::print("  {}\n", printable(where + diagnostic.message + text));
    if (!diagnostic.hint.empty()) fmt::print("    {}\n", printable(diagnostic.hint));
  }
}

void print_disk(const experiment::DiskForecast& forecast, const Terminal& terminal) {
  if (forecast.written == 0) return;
  fmt::print("\n{}\n{}\n", styled("Disk", Style::strong, terminal), experiment::text_of(forecast));
}

// By checkpoints that were there, else by the rehearsal's.
experiment::DiskForecast disk_forecast(const Living& living, const std::optional<experiment::Forecast>& rehearsed) {
  std::optional<std::uint64_t> measured = largest_checkpoint(living);
  if (!measured && rehearsed && rehearsed->checkpoint_bytes) {
    const std::uint64_t written = experiment::forecast_disk(living.planned, std::nullopt).written;
    if (written != 0) measured = *rehearsed->checkpoint_bytes / written;
  }
  return experiment::forecast_disk(living.planned, measured);
}

int plan(const Options& options) {
  const Living living = load_living(options.load);
  const Planned& planned = living.planned;
  if (!options.picture.empty()) {
    fmt::print("{}", dag::render(planned.graph, dag::picture_format_from(options.picture).value()));
    return kSuccess;
  }
  const std::optional<experiment::Forecast> forecast = forecast_of(planned);
  const experiment::DiskForecast disk = disk_forecast(living, forecast);
  if (options.json) {
    Json json = experiment::to_json(planned, options.nodes);
    if (forecast) json["forecast"] = experiment::to_json(*forecast);
    json["checkpoints"] = experiment::to_json(disk);
    if (living.edit) json["edit"] = engine::to_json(*living.edit);
    fmt::print("{}\n", dump(json));
    return kSuccess;
  }
  const Terminal terminal = terminal_of(stdout);
  const Summary summary = experiment::summarize(planned);
  print_heading(planned, summary, terminal);
  print_variables(planned, terminal);
  print_sites(planned, summary, terminal);
  print_runs(planned, terminal);
  print_disk(disk, terminal);
  if (forecast) fmt::print("\n{}", forecast_text(*forecast, terminal));
  if (living.edit) fmt::print("\n{}", edit_text(*living.edit, kRunsShown, terminal));
  print_diagnostics(planned.warnings, "Warnings", Style::note, terminal);
  print_diagnostics(planned.blockers, "Cannot run here (the definition is right)", Style::bad, terminal);
  return kSuccess;
}

}  // namespace

void add_plan(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "plan", "Check the experiment and say what it comes to, without running it",
                                  "godwit plan --sites sites.yaml");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->load);
  auto* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--graph", options->picture, "Print the graph instead: dot, svg or mermaid")
      ->type_name("FORMAT")
      ->excludes(json)
      ->check(one_of({"dot", "svg", "mermaid"}));
  command->add_flag("--nodes", options->nodes, "With --json: every node and its variables too")->needs(json);
  command->callback([&action, options] { action = [options] { return plan(*options); }; });
}

}  // namespace godwit::cli
