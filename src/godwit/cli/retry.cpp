// godwit retry: nodes that failed may run again, and with --redo those that are done too.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/cli/command.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/question.h"
#include "godwit/cli/redo.h"
#include "godwit/cli/terminal.h"

namespace godwit::cli {
namespace {

using journal::NodeIndex;
using journal::NodeState;
using journal::View;

struct Options {
  std::vector<std::string> targets;
  bool failed = false;
  bool redo = false;
  bool accept = false;
  bool yes = false;
  std::string file;
  bool json = false;
};

constexpr std::size_t kShown = 20;

std::vector<NodeIndex> every_node(const View& view) {
  std::vector<NodeIndex> nodes(view.nodes().size());
  for (NodeIndex node = 0; node < nodes.size(); ++node) nodes[node] = node;
  return nodes;
}

// Those that have come to an end that a retry may take back.
std::vector<NodeIndex> ended_among(const View& view, std::span<const NodeIndex> nodes, bool done_too) {
  std::vector<NodeIndex> out;
  for (const NodeIndex node : nodes) {
    const NodeState state = view.nodes()[node].state;
    const bool ended = state == NodeState::failed || (done_too && state == NodeState::done);
    if (ended && !view.nodes()[node].orphaned) out.push_back(node);
  }
  return out;
}

// The nodes that a target (a node or a run) means. Throws InputError where none of them has come to such an end.
std::vector<NodeIndex> resolve(const View& view, const std::string& target, bool done_too) {
  std::vector<NodeIndex> meant;
  if (const auto node = view.find_node(target)) {
    meant = {*node};
    if (view.nodes()[*node].state == NodeState::futile)
      throw InputError(
          fmt::format("{} did not fail: it waits for {}, which did", target, view.name_of(view.nodes()[*node].because)),
          fmt::format("godwit retry {}", view.name_of(view.nodes()[*node].because)));
  } else if (const auto run = view.find_run(target)) {
    meant = view.runs()[*run].nodes;
  } else {
    no_such_node(view, target, true);
  }
  std::vector<NodeIndex> ended = ended_among(view, meant, done_too);
  if (!ended.empty()) return ended;
  if (done_too)
    throw InputError(fmt::format("nothing of '{}' has been done or has failed", target),
                     "'godwit status' shows what has");
  const bool done = std::any_of(meant.begin(), meant.end(),
                                [&](NodeIndex node) { return view.nodes()[node].state == NodeState::done; });
  throw InputError(fmt::format("nothing of '{}' has failed", target),
                   done ? fmt::format("'godwit retry --redo {}' does again what is done", target)
                        : "'godwit status' shows what has");
}

std::vector<NodeIndex> chosen(const View& view, const Options& options) {
  std::vector<NodeIndex> nodes;
  if (options.failed) nodes = ended_among(view, every_node(view), false);
  for (const std::string& target : options.targets)
    for (const NodeIndex node : resolve(view, target, options.redo)) nodes.push_back(node);
  return nodes;
}

// What computing again costs, for whom is to agree.
std::string redo_text(const View& view, const std::vector<Redo>& nodes) {
  double wall_s = 0;
  std::string out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const auto last = view.nodes()[nodes[i].node].last_attempt; last != journal::kNone)
      wall_s += view.attempts()[last].wall_s;
    if (i < kShown) out += fmt::format("  {}: {}\n", view.name_of(nodes[i].node), nodes[i].why);
  }
  if (nodes.size() > kShown) out += fmt::format("  … and {} more\n", nodes.size() - kShown);
  return fmt::format("{} again; the last time {} took {}.\n{}", format_count(nodes.size(), "job runs", "jobs run"),
                     nodes.size() == 1 ? "it" : "they", format_duration(wall_s), out);
}

// Throws InputError where nobody can be asked.
bool consent(const View& view, const std::vector<Redo>& nodes, const Options& options) {
  if (options.yes || nodes.empty()) return true;
  const bool may_ask = !options.json && can_ask();
  fmt::print(stderr, "{}", redo_text(view, nodes));
  if (may_ask) return ask("Compute them again?");
  throw InputError("computing again what is done costs what it cost before", "--yes agrees to it");
}

int retry(const Options& options) {
  if (options.targets.empty() == !options.failed)
    throw InputError(options.failed ? "--failed means all that failed; name no nodes beside it"
                                    : "name the nodes or runs to run again, or say --failed");
  const Opened opened = open_journal(options.file);
  const View& view = opened.view;
  std::vector<NodeIndex> nodes = chosen(view, options);
  if (options.redo) {
    const std::vector<Redo> redo = with_lost_producers(view, opened.state.folder(), nodes);
    if (!consent(view, redo, options)) {
      fmt::print(stderr, "Nothing was changed.\n");
      return kInterrupted;
    }
    nodes.clear();
    for (const Redo& one : redo) nodes.push_back(one.node);
  }
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeIndex node : nodes) names.emplace_back(view.name_of(node));
  if (!names.empty())
    journal::drop_request(opened.state, {{"what", options.redo     ? "redo"
                                                  : options.accept ? "accept"
                                                                   : "retry"},
                                         {"nodes", names}});

  const bool engine = opened.engine().running();
  const char* failed = options.redo ? "" : "failed ";
  if (options.json)
    fmt::print("{}\n", Json{{"nodes", names}, {"engine_running", engine}}.dump());
  else if (names.empty())
    fmt::print("Nothing has failed.\n");
  else
    fmt::print("{} {}{} again{}.\n", names.size(), failed, names.size() == 1 ? "node runs" : "nodes run",
               engine ? " now" : " at the next 'godwit run'");
  return kSuccess;
}

}  // namespace

void add_retry(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "retry", "Let failed nodes run again", "godwit retry --failed");
  auto options = std::make_shared<Options>();
  command->add_option("targets", options->targets, "Nodes or runs: run0-train_epoch1, run3, d35b3ea9")
      ->type_name("NODE|RUN");
  command->add_flag("--failed", options->failed, "All nodes that failed");
  auto* redo = command->add_flag(
      "--redo", options->redo,
      "Also what is done, and before it every job whose checkpoint it needs and that is lost or changed");
  command
      ->add_flag("--accept", options->accept,
                 "From the checkpoints as they are now, though they are not what the jobs before left")
      ->excludes(redo);
  command->add_flag("--yes", options->yes, "With --redo: without asking");
  command->add_option("--experiment", options->file, "The experiment's file or folder (default: here)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return retry(*options); }; });
}

}  // namespace godwit::cli
