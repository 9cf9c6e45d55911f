#include "godwit/journal/stitch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace godwit::journal {
namespace {

const Attempt* job_attempt(const View& view, NodeIndex node, std::uint32_t number) {
  for (AttemptIndex i = view.nodes()[node].last_attempt; i != kNone; i = view.attempts()[i].previous) {
    const Attempt& attempt = view.attempts()[i];
    if (attempt.number == number && view.text(attempt.phase) == "job") return &attempt;
  }
  return nullptr;
}

bool counts(const View& view, const Attempt* attempt) {
  if (attempt == nullptr) return false;
  const bool success = view.text(attempt->outcome) == "exited" && attempt->exit_code == 0;
  return !attempt->has_ended() || success || view.text(attempt->retry) == "continued";
}

std::optional<double> seconds_of(const Json& metrics, Micros time, Micros before) {
  if (const auto said = metrics.find("seconds"); said != metrics.end() && said->is_number()) return said->get<double>();
  if (before == 0 || time < before) return std::nullopt;
  return static_cast<double>(time - before) * 1e-6;
}

// The last epoch that a node trains, or that the node beside which it evaluates does.
std::uint32_t last_epoch(const View& view, NodeIndex node) {
  std::uint32_t epoch = view.nodes()[node].last_epoch;
  if (epoch == 0)
    for (const NodeIndex parent : view.parents(node)) epoch = std::max(epoch, view.nodes()[parent].last_epoch);
  return epoch;
}

// When each attempt last told of something.
class LastLines {
 public:
  // The time of the line before this one, or of the attempt's start; 0 where there is neither.
  Micros before(const MetricsLine& line, const Attempt* attempt) {
    const auto [entry, first] =
        times_.try_emplace({line.node, line.attempt}, attempt == nullptr ? 0 : attempt->started);
    return std::exchange(entry->second, line.time);
  }

 private:
  std::map<std::pair<NodeIndex, std::uint32_t>, Micros> times_;
};

}  // namespace

std::vector<EpochMetrics> stitch(const View& view, RunIndex run, std::string_view kind) {
  std::map<std::uint32_t, EpochMetrics> by_epoch;
  LastLines last_lines;
  for (const std::uint32_t index : view.runs()[run].metrics) {
    const MetricsLine& line = view.metrics()[index];
    const Node& node = view.nodes()[line.node];
    if (view.text(node.kind) != kind) continue;
    const std::uint32_t epoch = kind == "train" && line.epoch != 0 ? line.epoch : last_epoch(view, line.node);
    const Attempt* attempt = job_attempt(view, line.node, line.attempt);
    const Micros before = last_lines.before(line, attempt);
    const bool provisional = !counts(view, attempt);
    const auto [entry, fresh] = by_epoch.try_emplace(epoch);
    if (!fresh && provisional && !entry->second.provisional) continue;
    Json metrics = Json::parse(line.json, nullptr, false);
    metrics.erase("_offset");
    const std::optional<double> seconds = seconds_of(metrics, line.time, before);
    const SiteIndex site = attempt == nullptr ? node.site : attempt->site;
    entry->second = {epoch, line.node, line.attempt, site, seconds, provisional, std::move(metrics)};
  }
  std::vector<EpochMetrics> out;
  out.reserve(by_epoch.size());
  for (auto& [epoch, metrics] : by_epoch) out.push_back(std::move(metrics));
  return out;
}

}  // namespace godwit::journal
