#include "godwit/cli/redo.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_set>

#include "godwit/base/content.h"
#include "godwit/journal/log_files.h"

namespace godwit::cli {
namespace {

using journal::NodeIndex;
using journal::NodeState;
using journal::View;

bool is_training(const View& view, NodeIndex node) {
  return view.nodes()[node].run != journal::kNone && view.text(view.nodes()[node].kind) == "train";
}

// What is wrong with the checkpoint that the job left; "" where nothing is.
std::string fault_of_checkpoint(const View& view, const std::string& folder, NodeIndex job) {
  const journal::Node& node = view.nodes()[job];
  const std::string place = journal::checkpoint_folder(view.runs()[node.run].uuid, node.last_epoch);
  const journal::CheckpointRecord* record = view.checkpoint_of(job);
  if (record != nullptr && record->dropped != 0) return fmt::format("{} was deleted, as `keep` says", place);
  if (record == nullptr && journal::checkpoint_path(view).empty()) return {};
  const auto now = content_of(std::filesystem::path(folder) / place);
  if (record == nullptr) return now ? "" : fmt::format("{}: nothing there that can be read", place);
  return now == record->content ? "" : fmt::format("{}: {}", place, difference_of(now, record->content));
}

}  // namespace

std::vector<Redo> with_lost_producers(const View& view, const std::string& folder,
                                      const std::vector<NodeIndex>& nodes) {
  std::vector<Redo> out;
  std::unordered_set<NodeIndex> seen;
  for (const NodeIndex node : nodes)
    if (seen.insert(node).second)
      out.push_back({node, view.nodes()[node].state == NodeState::failed ? "it failed" : "asked for"});
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const NodeIndex parent : view.parents(out[i].node)) {
      if (!is_training(view, parent) || view.nodes()[parent].state != NodeState::done || seen.contains(parent))
        continue;
      std::string fault = fault_of_checkpoint(view, folder, parent);
      if (fault.empty()) continue;
      seen.insert(parent);
      out.push_back({parent, std::move(fault)});
    }
  return out;
}

}  // namespace godwit::cli
