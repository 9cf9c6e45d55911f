#include "godwit/dag/keep_rule.h"

#include <algorithm>
#include <cmath>

namespace godwit::dag {
namespace {

bool reaches_multiple(std::uint32_t every, std::uint32_t before, std::uint32_t epoch) {
  return every != 0 && epoch / every > before / every;
}

}  // namespace

std::vector<bool> kept_by(const KeepRule& rule, std::span<const CheckpointValue> checkpoints) {
  std::vector<bool> kept(checkpoints.size(), false);
  std::vector<std::size_t> judged;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    const CheckpointValue& checkpoint = checkpoints[i];
    kept[i] = checkpoints.size() - i <= rule.last || reaches_multiple(rule.every, checkpoint.before, checkpoint.epoch);
    if (rule.best == 0 || !rule.metric) continue;
    if (!checkpoint.judged) kept[i] = true;
    if (checkpoint.value && !std::isnan(*checkpoint.value)) judged.push_back(i);
  }
  if (rule.best == 0 || !rule.metric) return kept;
  std::stable_sort(judged.begin(), judged.end(), [&](std::size_t a, std::size_t b) {
    return better(rule.metric->goal, *checkpoints[a].value, *checkpoints[b].value);
  });
  judged.resize(std::min<std::size_t>(judged.size(), rule.best));
  for (const std::size_t best : judged) kept[best] = true;
  return kept;
}

std::uint64_t most_kept(const KeepRule& rule, std::span<const std::uint32_t> last_epochs) {
  std::uint64_t kept = std::uint64_t{rule.last} + rule.best;
  for (std::size_t i = 0; i < last_epochs.size(); ++i)
    kept += reaches_multiple(rule.every, i == 0 ? 0 : last_epochs[i - 1], last_epochs[i]) ? 1 : 0;
  return std::min<std::uint64_t>(last_epochs.size(), kept + 1);
}

}  // namespace godwit::dag
