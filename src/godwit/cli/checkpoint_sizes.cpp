#include "godwit/cli/checkpoint_sizes.h"

#include <algorithm>
#include <filesystem>

#include "godwit/journal/log_files.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLookedAt = 100;

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error)) bytes += at->file_size(error);
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> largest_checkpoint(const Living& living) {
  if (!living.before || living.planned.spec.checkpoint.path.empty()) return std::nullopt;
  const journal::View& view = *living.before;
  std::uint64_t largest = 0;
  for (const journal::CheckpointRecord& checkpoint : view.checkpoints())
    largest = std::max(largest, checkpoint.content.bytes);
  if (largest != 0) return largest;
  std::size_t looked_at = 0;
  for (const journal::Node& node : view.nodes()) {
    if (looked_at == kMostLookedAt) break;
    if (node.state != journal::NodeState::done || node.run == journal::kNone || view.text(node.kind) != "train")
      continue;
    ++looked_at;
    const std::string folder = journal::checkpoint_folder(view.runs()[node.run].uuid, node.last_epoch);
    largest = std::max(largest, bytes_below(fs::path(living.planned.spec.directory) / folder));
  }
  return largest == 0 ? std::nullopt : std::optional(largest);
}

}  // namespace godwit::cli
