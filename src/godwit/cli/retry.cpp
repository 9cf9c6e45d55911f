// godwit retry: nodes that failed may run again.
#include <fmt/format.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/text.h"
#include "godwit/cli/command.h"
#include "godwit/experiment/plan.h"
#include "godwit/journal/state_dir.h"
#include "godwit/journal/view.h"
#include "godwit/store/lock.h"

namespace godwit::cli {
namespace {

using journal::NodeIndex;
using journal::NodeState;

struct Options {
  std::vector<std::string> targets;
  bool failed = false;
  std::string file;
  bool json = false;
};

std::vector<NodeIndex> failed_among(const journal::View& view, std::span<const NodeIndex> nodes) {
  std::vector<NodeIndex> out;
  for (const NodeIndex node : nodes)
    if (view.nodes()[node].state == NodeState::failed && !view.nodes()[node].orphaned) out.push_back(node);
  return out;
}

std::vector<NodeIndex> every_node(const journal::View& view) {
  std::vector<NodeIndex> nodes(view.nodes().size());
  for (NodeIndex node = 0; node < nodes.size(); ++node) nodes[node] = node;
  return nodes;
}

// The failed nodes that a target (a node or a run) means. Throws InputError where it means nothing that failed.
std::vector<NodeIndex> resolve(const journal::View& view, const std::string& target) {
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
    std::vector<std::string> names;
    for (const NodeIndex known : every_node(view)) names.emplace_back(view.name_of(known));
    throw InputError(fmt::format("there is no node or run '{}'", target), did_you_mean(target, names));
  }
  std::vector<NodeIndex> failed = failed_among(view, meant);
  if (failed.empty())
    throw InputError(fmt::format("nothing of '{}' has failed", target), "'godwit status' shows what has");
  return failed;
}

int retry(const Options& options) {
  if (options.targets.empty() == !options.failed)
    throw InputError(options.failed ? "--failed means all that failed; name no nodes beside it"
                                    : "name the nodes or runs to run again, or say --failed");
  const journal::StateDir state = journal::StateDir::beside(experiment::find_experiment(options.file));
  journal::View view;
  view.update(*journal::Reader::open(state.journal()));

  std::vector<NodeIndex> nodes;
  if (options.failed) nodes = failed_among(view, every_node(view));
  for (const std::string& target : options.targets)
    for (const NodeIndex node : resolve(view, target)) nodes.push_back(node);
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeIndex node : nodes) names.emplace_back(view.name_of(node));
  if (!names.empty()) journal::drop_request(state, {{"what", "retry"}, {"nodes", names}});

  const bool engine = store::probe_lock(journal::writer_lock(state.journal())).held;
  if (options.json)
    fmt::print("{}\n", Json{{"nodes", names}, {"engine_running", engine}}.dump());
  else if (names.empty())
    fmt::print("Nothing has failed.\n");
  else
    fmt::print("{} failed {} again{}.\n", names.size(), names.size() == 1 ? "node runs" : "nodes run",
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
  command->add_option("--experiment", options->file, "The experiment's file or folder (default: here)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return retry(*options); }; });
}

}  // namespace godwit::cli
