// What the jobs of training runs have told of the metrics that rules go by: a value per run, metric and epoch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"

namespace godwit::engine {

class MetricBook {
 public:
  using Series = std::map<std::uint32_t, double>;  // by epoch

  // Keeps the metrics that the graph's rules name.
  explicit MetricBook(const dag::Graph& graph);

  bool empty() const { return metrics_.empty(); }
  // A line of a node's metrics. A training line counts for the epoch that it names, else for its node's last, and not
  // where that epoch is another job's; an evaluation's for the last epoch of the checkpoint that it scores. What is
  // told again replaces what was told.
  void observe(dag::NodeId node, const Json& line);

  // When a job is done whose like should have told of a metric by now, and none has: the rule that goes by it, and why
  // it does not find it, as a clause after the job's name. Each metric is told of once.
  struct Unknown {
    std::string metric;
    std::string message;
  };
  std::vector<Unknown> unknown_after(dag::NodeId done);
  // It was told before.
  void mark_told(const std::string& metric);

  // Both of a metric that a rule names.
  std::optional<double> at(dag::RunId run, const dag::Metric& metric, std::uint32_t epoch) const;
  const Series& series(dag::RunId run, const dag::Metric& metric) const;

 private:
  struct Kept {
    dag::Metric metric;
    std::string rule;  // the first that goes by it
    std::unordered_map<dag::RunId, Series> runs;
    bool unknown_told = false;
  };

  std::string why_unknown(const Kept& kept) const;

  const dag::Graph& graph_;
  std::vector<Kept> metrics_;
  std::set<std::string> training_names_, evaluation_names_;  // all that lines have
};

}  // namespace godwit::engine
