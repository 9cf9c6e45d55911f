// godwit compare: what the runs of an experiment came to, and what migration did to them.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "godwit/cli/command.h"
#include "godwit/cli/table.h"
#include "godwit/cli/terminal.h"
#include "godwit/journal/state_dir.h"
#include "godwit/journal/view.h"
#include "godwit/report/document.h"
#include "godwit/report/figures.h"
#include "godwit/report/format.h"
#include "godwit/report/page.h"
#include "godwit/report/read.h"
#include "godwit/report/tables.h"
#include "godwit/store/atomic_file.h"

namespace godwit::cli {
namespace {

constexpr std::size_t kMostRows = 40;  // of a table on the terminal; --all shows every row

struct Options {
  std::string file = "experiment.yaml";
  std::string metric;
  std::string better;
  std::string html_file;
  std::string svg_file;
  bool json = false;
  bool all = false;
};

report::Comparison load(const Options& options) {
  report::Options wanted;
  wanted.metric = options.metric;
  if (options.better == "low") wanted.goal = report::Goal::lowest;
  if (options.better == "high") wanted.goal = report::Goal::highest;
  const auto reader = journal::Reader::open(journal::StateDir::beside(options.file).journal());
  journal::View view;
  view.update(*reader);
  return report::compare(report::read_experiment(view), wanted);
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
  if (const std::string common = report::common_values(comparison); !common.empty())
    fmt::print("All runs: {}\n", report::printable(common));
  const std::size_t most =
      options.all ? comparison.experiment.runs.size() * (comparison.metrics.size() + 1) : kMostRows;
  for (const report::Table& table : report::make_tables(comparison, most)) print_table(table, terminal);
  if (!comparison.notes.empty()) fmt::print("\n");
  for (const std::string& note : comparison.notes) fmt::print("{}\n", styled(note, Style::note, terminal));
}

// Where the JSON goes to standard output, this must not.
void write_picture(const std::string& path, const std::string& content, bool quiet) {
  store::write_file(path, content, store::Durability::process);
  if (!quiet) fmt::print("wrote {}\n", report::printable(path));
}

int compare(const Options& options) {
  const report::Comparison comparison = load(options);
  if (options.json)
    fmt::print("{}\n", report::to_json(comparison).dump(-1, ' ', false, Json::error_handler_t::replace));
  else
    print_for_people(comparison, options);
  if (!options.html_file.empty()) write_picture(options.html_file, report::html_page(comparison), options.json);
  if (!options.svg_file.empty()) write_picture(options.svg_file, report::figures_svg(comparison), options.json);
  return kSuccess;
}

}  // namespace

void add_compare(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "compare", "Compare the runs: migrated with baseline, and values with values",
                                  "godwit compare --html comparison.html");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "The experiment (default: experiment.yaml)");
  command->add_option("--metric", options->metric, "The metric to compare by (default: val_loss, else the first)")
      ->type_name("NAME");
  command->add_option("--better", options->better, "Which values of it are better (default: guessed from its name)")
      ->check(CLI::IsMember({"low", "high"}));
  command->add_flag("--all", options->all, "Show every row of long tables");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->add_option("--html", options->html_file, "Write one page with charts that needs nothing beside it")
      ->type_name("FILE");
  command->add_option("--svg", options->svg_file, "Write the charts as one picture")->type_name("FILE");
  command->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace godwit::cli
