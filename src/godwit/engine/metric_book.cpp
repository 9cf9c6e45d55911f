#include "godwit/engine/metric_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/bookkeeping.h"
#include "godwit/base/text.h"
#include "godwit/engine/own_epochs.h"
#include "godwit/journal/metrics.h"

namespace godwit::engine {

MetricBook::MetricBook(const dag::Graph& graph) : graph_(graph) {
  const auto add = [&](const char* rule, const std::optional<dag::Metric>& metric) {
    if (!metric) return;
    const auto same = [&](const Kept& kept) { return kept.metric.name == metric->name; };
    if (std::none_of(metrics_.begin(), metrics_.end(), same)) metrics_.push_back({*metric, rule, {}});
  };
  if (graph.rules.keep) add("keep", graph.rules.keep->metric);
  if (graph.rules.early_stop) add("early_stop", graph.rules.early_stop->metric);
  if (graph.rules.asha) add("asha", graph.rules.asha->metric);
}

void MetricBook::observe(dag::NodeId node, const Json& line) {
  const dag::RunId run = graph_.run_of(node);
  if (run == dag::kNoRun || !line.is_object() || !OwnEpochs(graph_, node).have(line)) return;
  const bool evaluation = graph_.kind(node) == dag::NodeKind::evaluate;
  if (!empty())
    for (const auto& [name, value] : line.items()) (evaluation ? evaluation_names_ : training_names_).insert(name);
  for (Kept& kept : metrics_) {
    if (kept.metric.of_evaluation() != evaluation) continue;
    const auto value = line.find(std::string(kept.metric.own_name()));
    const auto number = value == line.end() ? std::nullopt : journal::metric_value(*value);
    if (!number) continue;
    const auto named = evaluation ? std::nullopt : journal::named_epoch(line);
    kept.runs[run][named.value_or(epoch_of(graph_, node, "last_epoch"))] = *number;
  }
}

std::vector<MetricBook::Unknown> MetricBook::unknown_after(dag::NodeId done) {
  std::vector<Unknown> out;
  const dag::NodeKind kind = graph_.kind(done);
  if (graph_.run_of(done) == dag::kNoRun || (kind != dag::NodeKind::train && kind != dag::NodeKind::evaluate))
    return out;
  for (Kept& kept : metrics_) {
    const bool of_its_kind = kept.metric.of_evaluation() == (kind == dag::NodeKind::evaluate);
    if (!of_its_kind || kept.unknown_told || !kept.runs.empty()) continue;
    kept.unknown_told = true;
    out.push_back({kept.metric.name, why_unknown(kept)});
  }
  return out;
}

void MetricBook::mark_told(const std::string& metric) {
  for (Kept& kept : metrics_) kept.unknown_told = kept.unknown_told || kept.metric.name == metric;
}

std::string MetricBook::why_unknown(const Kept& kept) const {
  constexpr std::size_t kMostNamed = 10;
  const bool evaluation = kept.metric.of_evaluation();
  const std::set<std::string>& names = evaluation ? evaluation_names_ : training_names_;
  const std::string begin = fmt::format("`{}` goes by the metric '{}', ", kept.rule, kept.metric.name);
  if (names.empty()) return begin + "but the job told of no metrics";
  if (names.contains(std::string(kept.metric.own_name()))) return begin + "which is no number in the job's metrics";
  std::vector<std::string> known;
  for (const std::string& name : names)
    if (!is_bookkeeping(name)) known.push_back((evaluation ? "eval." : "") + name);
  std::string out = begin + "which the job's metrics do not have";
  if (const std::string hint = did_you_mean(kept.metric.name, known); !hint.empty()) return out + "; " + hint;
  if (known.size() > kMostNamed) known.resize(kMostNamed), known.emplace_back("…");
  return known.empty() ? out : out + "; they have " + join(known, ", ");
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
