#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/terminal.h"
#include "godwit/journal/explain.h"
#include "godwit/report/format.h"

namespace godwit::cli {
namespace {

using journal::Explanation;
using journal::NodeState;

constexpr std::size_t kMostWays = 20;

struct Options {
  std::string node;
  std::string file;
  bool json = false;
};

// `godwit why experiment.yaml` asks about the experiment, not about a node of that name.
Options told_apart(Options options) {
  const std::filesystem::path path(options.node);
  const std::string extension = path.extension().string();
  const bool names_file = extension == ".yaml" || extension == ".yml" || extension == ".dag";
  if (options.file.empty() && names_file && std::filesystem::exists(path)) std::swap(options.node, options.file);
  return options;
}

Style style_of(const std::string& state) {
  if (state == "failed" || state == "futile" || state == "died") return Style::bad;
  if (state == "done") return Style::good;
  if (state == "active" || state == "queued") return Style::busy;
  return Style::note;
}

void print(const Explanation& e, const Terminal& terminal) {
  const auto line = [](const char* indent, std::string_view text) {
    fmt::print("{}{}\n", indent, report::printable(text));
  };
  if (e.subject.empty())
    fmt::print("{}\n", styled(report::printable(e.summary), style_of(e.state), terminal));
  else
    fmt::print("{} {}: {}\n", styled(report::printable(e.subject), Style::strong, terminal),
               styled(e.state, style_of(e.state), terminal), report::printable(e.summary));
  for (const std::string& fact : e.facts) line("  ", fact);
  if (!e.evidence.empty()) {
    line("  the end of ", e.evidence_file);
    for (const std::string& text : e.evidence) line("    | ", text);
  }
  if (!e.advice.empty())
    fmt::print("  {} {}\n", styled("what to do:", Style::note, terminal), report::printable(e.advice));
}

// What is there to say of all, where nothing is stuck.
std::string all_is_well(const Opened& opened) {
  const journal::Counts& counts = opened.view.counts();
  if (counts[NodeState::pruned] != 0 && counts[NodeState::done] + counts[NodeState::pruned] == counts.total())
    return fmt::format("nothing is stuck: {} done, the other {} not needed",
                       format_count(counts[NodeState::done], "job"), counts[NodeState::pruned]);
  if (counts[NodeState::done] == counts.total())
    return fmt::format("nothing is stuck: all of {} {} done", format_count(counts.total(), "job"),
                       counts.total() == 1 ? "is" : "are");
  return fmt::format("nothing is stuck: {} active, {} queued, {} waiting for those before them",
                     counts[NodeState::active], counts[NodeState::queued], counts[NodeState::waiting]);
}

std::vector<Explanation> explanations(const Opened& opened, const std::string& name, std::size_t& left_out) {
  const journal::Explainer explainer(opened.view, opened.state, opened.engine(), system_clock().now());
  if (name.empty()) {
    journal::Explainer::Stuck stuck = explainer.stuck(kMostWays);
    left_out = stuck.ways_left_out;
    return std::move(stuck.all);
  }
  if (const auto node = opened.view.find_node(name)) return {explainer.node(*node)};
  if (const auto run = opened.view.find_run(name)) {
    std::vector<Explanation> out = explainer.run(opened.view.runs()[*run]);
    // A run that is done: its last job says so.
    if (out.empty() && !opened.view.runs()[*run].nodes.empty())
      out.push_back(explainer.node(opened.view.runs()[*run].nodes.back()));
    return out;
  }
  no_such_node(opened.view, name, true);
}

int explain(const Options& given) {
  const Options options = told_apart(given);
  const Opened opened = open_journal(options.file);
  std::size_t left_out = 0;
  const std::vector<Explanation> all = explanations(opened, options.node, left_out);
  if (options.json) {
    Json json = Json::array();
    for (const Explanation& e : all) json.push_back(journal::to_json(e));
    fmt::print("{}\n", dump({{"explanations", json}, {"ways_left_out", left_out}}));
    return kSuccess;
  }
  const Terminal terminal = terminal_of(stdout);
  for (const Explanation& e : all) print(e, terminal);
  if (left_out != 0) fmt::print("… and {}\n", format_count(left_out, "more way of failing", "more ways of failing"));
  if (all.empty()) fmt::print("{}\n", all_is_well(opened));
  return kSuccess;
}

}  // namespace

void add_why(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "why", "Explain why a node or run is where it is, or what does not move",
                                  "godwit why run3-train_epoch2");
  auto options = std::make_shared<Options>();
  command->add_option("node", options->node, "A node, or a run by number or uuid (default: all that does not move)")
      ->check(not_empty())
      ->option_text("NODE|RUN");
  command->add_option("file", options->file, "The experiment (default: experiment.yaml here)")->option_text("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return explain(*options); }; });
}

}  // namespace godwit::cli
