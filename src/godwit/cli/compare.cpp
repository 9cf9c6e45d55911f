// godwit compare: what the runs of an experiment came to, and what migration did to them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "godwit/base/error.h"
#include "godwit/base/yaml.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/cli/landscape.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/table.h"
#include "godwit/cli/terminal.h"
#include "godwit/experiment/compare_spec.h"
#include "godwit/report/document.h"
#include "godwit/report/figures.h"
#include "godwit/report/format.h"
#include "godwit/report/page.h"
#include "godwit/report/read.h"
#include "godwit/report/tables.h"
#include "godwit/store/atomic_file.h"

namespace godwit::cli {
namespace {

struct Options {
  std::string file;
  std::string metric;
  std::string better;
  std::optional<std::string> html_file, svg_file;
  std::size_t rows = 40;
  LandscapeOptions landscape;
  bool all = false;
  bool json = false;
};

bool is_yaml(const std::string& file) {
  try {
    yaml::load(file);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// What the experiment's file says now of how its runs are to be compared; what the journal says where there is none, or
// one that is broken.
Json declared_now(const Opened& opened) {
  namespace fs = std::filesystem;
  const fs::path file = fs::path(opened.state.folder()) / fs::path(opened.view.dag().file).filename();
  const auto& known = opened.view.declarations();
  if (file.extension() != ".yaml" || !fs::is_regular_file(file) || !is_yaml(file))
    return known.empty() ? Json::object() : known.back().json;
  return experiment::declaration_json(experiment::load_compare(file));
}

report::Comparison load(const Options& options) {
  report::Options wanted;
  wanted.metric = options.metric;
  if (options.better == "low") wanted.goal = Goal::lowest;
  if (options.better == "high") wanted.goal = Goal::highest;
  const Opened opened = open_journal(options.file);
  report::Comparison comparison = report::compare(report::read_experiment(opened.view, declared_now(opened)), wanted);
  if (comparison.has_baseline && comparison.has_metrics() && comparison.finished() > 0)
    comparison.landscape = survey(opened, comparison, options.landscape);
  return comparison;
}

void print_table(const report::Table& table, const Terminal& terminal) {
  std::vector<Column> columns;
  for (const report::Column& column : table.columns)
    columns.push_back({report::printable(column.name), column.right ? Align::right : Align::left,
                       column.name == "sites" || column.name == "group"});
  Table shown(std::move(columns));
  for (const auto& row : table.rows) shown.add_row(std::vector<Cell>(row.begin(), row.end()));
  fmt::print("\n{}\n{}", styled(report::printable(table.title), Style::strong, terminal), shown.render(terminal));
  if (!table.note.empty()) fmt::print("{}\n", styled(table.note, Style::faint, terminal));
}

void print_for_people(const report::Comparison& comparison, const Options& options) {
  const Terminal terminal = terminal_of(stdout);
  fmt::print("{}: {}\n", styled(report::printable(comparison.experiment.name), Style::strong, terminal),
             report::printable(report::headline(comparison)));
  for (const std::string& sentence : report::verdict_sentences(comparison))
    fmt::print("{}\n", report::printable(sentence));
  if (const std::string common = report::common_values(comparison); !common.empty())
    fmt::print("All runs: {}\n", report::printable(common));
  const std::size_t most =
      options.all ? comparison.experiment.runs.size() * (comparison.metrics.size() + 1) : options.rows;
  for (const report::Table& table : report::make_tables(comparison, most)) print_table(table, terminal);
  if (!comparison.notes.empty()) fmt::print("\n");
  for (const std::string& note : comparison.notes) fmt::print("{}\n", styled(note, Style::note, terminal));
}

// Told before anything is computed or printed.
void require_writable(const char* option, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) throw InputError(fmt::format("{} names no file", option), "name one, such as comparison.html");
  const fs::path folder = fs::path(path).parent_path();
  if (fs::is_directory(path)) throw InputError("cannot write '" + path + "': it is a folder", "name a file in it");
  if (!folder.empty() && !fs::is_directory(folder))
    throw InputError("cannot write '" + path + "': there is no folder '" + folder.string() + "'");
}

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  return fs::weakly_canonical(fs::absolute(a)) == fs::weakly_canonical(fs::absolute(b));
}

void write_picture(const std::string& path, const std::string& content, const Options& options) {
  store::write_file(path, content, store::Durability::process);
  if (!options.json) fmt::print("wrote {}\n", report::printable(path));
}

int compare(const Options& options) {
  for (const auto& [option, path] : {std::pair("--html", options.html_file), std::pair("--svg", options.svg_file)})
    if (path) require_writable(option, *path);
  if (options.html_file && options.svg_file && same_file(*options.html_file, *options.svg_file))
    throw InputError(fmt::format("--html and --svg name the same file: '{}'", *options.svg_file),
                     "name two, such as comparison.html and comparison.svg");
  const report::Comparison comparison = load(options);
  if (options.json)
    fmt::print("{}\n", dump(report::to_json(comparison)));
  else
    print_for_people(comparison, options);
  if (options.html_file) write_picture(*options.html_file, report::html_page(comparison), options);
  if (options.svg_file) write_picture(*options.svg_file, report::figures_svg(comparison), options);
  return kSuccess;
}

int run_compare(const Options& options) {
  try {
    return compare(options);
  } catch (const Interrupted&) {
    return kInterrupted;
  }
}

}  // namespace

void add_compare(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "compare", "Compare the runs: migrated with baseline, and values with values",
                                  "godwit compare --html comparison.html");
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "The experiment (default: experiment.yaml here)")->option_text("FILE");
  command->add_option("--metric", options->metric, "The metric to compare by (default: val_loss, else the first)")
      ->type_name("NAME");
  command->add_option("--better", options->better, "Whether low or high values of it are better (default: by its name)")
      ->check(one_of({"low", "high"}))
      ->option_text("low|high");
  command->add_option("--rows", options->rows, "Rows of a table to show at most (default: 40)")
      ->check(whole_number(1))
      ->option_text("N");
  command->add_flag("--all", options->all, "Show all rows");
  command->add_flag("--weights", options->landscape.weights,
                    "Measure distances of weights however large checkpoints are");
  auto* barrier = command->add_flag("--barrier", options->landscape.barrier,
                                    "Run the evaluation, here, on what lies between the checkpoints of two runs");
  command
      ->add_option("--points", options->landscape.points, "Evaluations from one checkpoint to the other (default: 11)")
      ->needs(barrier)
      ->check(whole_number(3, 1001))
      ->option_text("N");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->add_option("--html", options->html_file, "Write one page with charts that needs nothing beside it")
      ->type_name("FILE");
  command->add_option("--svg", options->svg_file, "Write the charts as one picture")->type_name("FILE");
  command->callback([&action, options] { action = [options] { return run_compare(*options); }; });
}

}  // namespace godwit::cli
