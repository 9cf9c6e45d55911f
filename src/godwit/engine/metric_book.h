// What the jobs of training runs have told of the metrics that rules go by: a value per run, metric and epoch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"

namespace godwit::engine {

// A node's variable that is a whole number, such as last_epoch; 0 where it has none.
std::uint32_t epoch_of(const dag::Graph& graph, dag::NodeId node, std::string_view variable);

class MetricBook {
 public:
  using Series = std::map<std::uint32_t, double>;  // by epoch

  // Keeps the metrics that the graph's rules name.
  explicit MetricBook(const dag::Graph& graph);

  bool empty() const { return metrics_.empty(); }
  // A line of a node's metrics. A training line counts for the epoch that it names, else for its node's last; an
  // evaluation's for the last epoch of the checkpoint that it scores. What is told again replaces what was told.
  void observe(dag::NodeId node, const Json& line);

  // Both of a metric that a rule names.
  std::optional<double> at(dag::RunId run, const dag::Metric& metric, std::uint32_t epoch) const;
  const Series& series(dag::RunId run, const dag::Metric& metric) const;

 private:
  struct Kept {
    dag::Metric metric;
    std::unordered_map<dag::RunId, Series> runs;
  };

  const dag::Graph& graph_;
  std::vector<Kept> metrics_;
};

}  // namespace godwit::engine
