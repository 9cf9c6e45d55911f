#include "godwit/engine/metric_book.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "godwit/journal/metrics.h"

namespace godwit::engine {

std::uint32_t epoch_of(const dag::Graph& graph, dag::NodeId node, std::string_view variable) {
  std::uint32_t epoch = 0;
  const std::string_view text = graph.var(node, variable).value_or("");
  std::from_chars(text.data(), text.data() + text.size(), epoch);
  return epoch;
}

MetricBook::MetricBook(const dag::Graph& graph) : graph_(graph) {
  const auto add = [&](const std::optional<dag::Metric>& metric) {
    if (!metric) return;
    const auto same = [&](const Kept& kept) { return kept.metric.name == metric->name; };
    if (std::none_of(metrics_.begin(), metrics_.end(), same)) metrics_.push_back({*metric, {}});
  };
  if (graph.rules.keep) add(graph.rules.keep->metric);
  if (graph.rules.early_stop) add(graph.rules.early_stop->metric);
  if (graph.rules.asha) add(graph.rules.asha->metric);
}

void MetricBook::observe(dag::NodeId node, const Json& line) {
  const dag::RunId run = graph_.run_of(node);
  if (run == dag::kNoRun || !line.is_object()) return;
  const bool evaluation = graph_.kind(node) == dag::NodeKind::evaluate;
  for (Kept& kept : metrics_) {
    if (kept.metric.of_evaluation() != evaluation) continue;
    const auto value = line.find(std::string(kept.metric.own_name()));
    const auto number = value == line.end() ? std::nullopt : journal::metric_value(*value);
    if (!number) continue;
    const auto named = line.find("epoch");
    const bool names_epoch = !evaluation && named != line.end() && named->is_number_unsigned();
    kept.runs[run][names_epoch ? named->get<std::uint32_t>() : epoch_of(graph_, node, "last_epoch")] = *number;
  }
}

const MetricBook::Series& MetricBook::series(dag::RunId run, const dag::Metric& metric) const {
  static const Series kNothing;
  for (const Kept& kept : metrics_)
    if (kept.metric.name == metric.name)
      if (const auto found = kept.runs.find(run); found != kept.runs.end()) return found->second;
  return kNothing;
}

std::optional<double> MetricBook::at(dag::RunId run, const dag::Metric& metric, std::uint32_t epoch) const {
  const Series& all = series(run, metric);
  const auto found = all.find(epoch);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace godwit::engine
