#include "godwit/engine/early_stop.h"

#include <cmath>

namespace godwit::engine {

std::optional<Exhausted> exhausted(const dag::EarlyStopRule& rule, const std::map<std::uint32_t, double>& values) {
  if (values.empty()) return std::nullopt;
  Exhausted out;
  std::uint32_t since = values.begin()->first - 1;
  std::optional<double> best;
  for (const auto& [epoch, value] : values) {
    out.epoch = epoch;
    if (std::isnan(value)) continue;
    const double gain = !best ? 0 : rule.metric.goal == Goal::lowest ? *best - value : value - *best;
    if (best && !(gain > rule.min_delta)) continue;
    best = out.best = value;
    since = out.best_epoch = epoch;
  }
  if (out.epoch - since < rule.patience) return std::nullopt;
  return out;
}

}  // namespace godwit::engine
