#include "godwit/experiment/folders.h"

#include <fmt/format.h>

#include "godwit/dag/output_file.h"

namespace godwit::experiment {

std::uint64_t write_folders(const Planned& planned, const std::filesystem::path& file) {
  dag::OutputFile out(file);
  std::uint64_t count = 0;
  const auto put = [&](const std::string& folder) {
    out.put(folder);
    out.put("\n");
    ++count;
  };
  const dag::Graph& graph = planned.graph;
  for (const dag::Run& run : graph.runs()) {
    put(fmt::format("runs/{}/logs", run.uuid));
    if (planned.spec.names_metrics) put(fmt::format("runs/{}/metrics", run.uuid));
  }
  if (!planned.spec.checkpoint.path.empty())
    for (dag::NodeId node = 0; node < graph.size(); ++node) {
      const dag::RunId run = graph.run_of(node);
      const auto epoch = graph.var(node, "last_epoch");
      if (graph.kind(node) == dag::NodeKind::train && run != dag::kNoRun && epoch)
        put(fmt::format("runs/{}/checkpoints/{}", graph.runs()[run].uuid, *epoch));
    }
  out.finish();
  return count;
}

}  // namespace godwit::experiment
