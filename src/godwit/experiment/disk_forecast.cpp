#include "godwit/experiment/disk_forecast.h"

#include <fmt/format.h>

#include <vector>

#include "godwit/base/units.h"
#include "godwit/dag/keep_rule.h"

namespace godwit::experiment {
namespace {

// The last epochs of each run's training jobs, in order.
std::vector<std::vector<std::uint32_t>> last_epochs(const dag::Graph& graph) {
  std::vector<std::vector<std::uint32_t>> out(graph.runs().size());
  for (dag::NodeId node = 0; node < graph.size(); ++node) {
    if (graph.kind(node) != dag::NodeKind::train || graph.run_of(node) == dag::kNoRun) continue;
    out[graph.run_of(node)].push_back(epoch_of(graph, node, "last_epoch"));
  }
  return out;
}

}  // namespace

std::optional<std::uint64_t> DiskForecast::bytes() const {
  return size_bytes ? std::optional(*size_bytes * checkpoints) : std::nullopt;
}

DiskForecast forecast_disk(const Planned& planned, std::optional<std::uint64_t> measured_bytes) {
  DiskForecast out;
  out.size_bytes = measured_bytes;
  out.measured = measured_bytes.has_value();
  if (!measured_bytes && planned.spec.checkpoint.size_bytes != 0) out.size_bytes = planned.spec.checkpoint.size_bytes;
  if (planned.spec.checkpoint.path.empty()) return out;
  const auto& keep = planned.graph.rules.keep;
  for (const std::vector<std::uint32_t>& run : last_epochs(planned.graph)) {
    out.written += run.size();
    out.checkpoints += keep ? dag::most_kept(*keep, run) : run.size();
  }
  return out;
}

std::string text_of(const DiskForecast& forecast) {
  const std::string count = fmt::format("at most {} of {} at the same time",
                                        format_count(forecast.checkpoints, "checkpoint"), forecast.written);
  if (!forecast.size_bytes) return count + ", of unknown size ('checkpoint: {path: …, size: 200MB}' tells it)";
  return fmt::format("{}, {} each ({}): {}", count, format_bytes(*forecast.size_bytes),
                     forecast.measured ? "measured" : "as declared", format_bytes(*forecast.bytes()));
}

Json to_json(const DiskForecast& forecast) {
  const auto known = [](std::optional<std::uint64_t> bytes) { return bytes ? Json(*bytes) : Json("unknown"); };
  return {{"at_most", forecast.checkpoints},
          {"written", forecast.written},
          {"size_bytes", known(forecast.size_bytes)},
          {"size_from", !forecast.size_bytes ? "unknown"
                        : forecast.measured  ? "measured"
                                             : "declared"},
          {"peak_bytes", known(forecast.bytes())}};
}

}  // namespace godwit::experiment
