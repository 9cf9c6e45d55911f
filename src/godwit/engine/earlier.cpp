#include <algorithm>
#include <vector>

#include "godwit/engine/edit.h"

namespace godwit::engine {

using journal::NodeIndex;
using journal::RunIndex;
using journal::View;

dag::Earlier earlier_plan(const View& view) {
  dag::Earlier earlier;
  std::vector<dag::EarlierRun*> runs;
  for (const journal::Run& run : view.runs()) {
    dag::EarlierRun& entry = earlier.runs[run.uuid];
    entry.number = run.number;
    entry.seed = run.seed;
    entry.baseline = run.baseline;
    earlier.next_number = std::max(earlier.next_number, run.number + 1);
    runs.push_back(&entry);
  }
  // All that the run ever had: a job that an edit took away and another brings back is the same one.
  for (NodeIndex index = 0; index < view.nodes().size(); ++index) {
    const journal::Node& node = view.nodes()[index];
    if (node.run == journal::kNone || node.attempts == 0 || view.text(node.kind) != "train") continue;
    runs[node.run]->begun.push_back({node.first_epoch, node.last_epoch, std::string(view.site_name(node.site)),
                                     node.state == journal::NodeState::done});
  }
  for (dag::EarlierRun* run : runs) {
    std::sort(run->begun.begin(), run->begun.end(),
              [](const auto& a, const auto& b) { return a.first_epoch < b.first_epoch; });
    std::uint32_t epochs = 0;
    const auto gap = std::find_if(run->begun.begin(), run->begun.end(), [&](const dag::EarlierJob& job) {
      const bool follows = job.first_epoch == epochs + 1;
      epochs = job.last_epoch;
      return !follows;
    });
    run->begun.erase(gap, run->begun.end());
  }
  return earlier;
}

}  // namespace godwit::engine
