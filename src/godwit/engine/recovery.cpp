#include "godwit/engine/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "godwit/base/json.h"
#include "godwit/engine/definition.h"

namespace godwit::engine {

using dag::NodeId;
using jobs::Phase;
using journal::Kind;

std::string ending_json(Phase phase, const jobs::Ending& ending, std::string_view retry) {
  Json json{{"phase", jobs::to_string(phase)},
            {"outcome", jobs::to_string(ending.outcome)},
            {"exit_code", ending.exit_code},
            {"signal", ending.signal},
            {"wall_s", ending.use.wall_s},
            {"cpu_s", ending.use.cpu_s},
            {"peak_memory_kb", ending.use.peak_memory_kb},
            {"started_us", ending.started},
            {"ended_us", ending.ended},
            {"retry", retry}};
  if (!ending.detail.empty()) json["detail"] = ending.detail;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

jobs::Ending ending_from(const Json& json) {
  jobs::Ending ending;
  ending.outcome = jobs::outcome_from(json.at("outcome").get<std::string>()).value_or(jobs::Outcome::lost);
  ending.exit_code = json.at("exit_code");
  ending.signal = json.at("signal");
  ending.use.wall_s = json.at("wall_s");
  ending.use.cpu_s = json.at("cpu_s");
  ending.use.peak_memory_kb = json.at("peak_memory_kb");
  ending.detail = json.value("detail", "");
  return ending;
}

// Attempts whose end is in the journal may still have a sandbox, where the engine died before it released them; only
// the latest can.
constexpr std::size_t kRecentlyEnded = 4096;

class Replay {
 public:
  Replay(const dag::Graph& graph, std::string file) : graph_(graph), file_(std::move(file)) {
    out_.attempts.resize(graph.size());
    out_.finals.resize(graph.size(), Recovered::Final::none);
  }

  void apply(const journal::Event& event);
  Recovered result() &&;

 private:
  NodeId node_of(const journal::Event& event) const;
  Phase phase_of(const Json& json) const;
  void on_definition(const Json& json);
  void on_submitting(const journal::Event& event);
  void on_epoch(const journal::Event& event);
  void on_ended(const journal::Event& event);
  void settle(const journal::Event& event, Recovered::Final end);

  const dag::Graph& graph_;
  std::string file_;
  Recovered out_;
  std::unordered_map<std::uint64_t, Recovered::Open> open_;  // by node and phase
  std::deque<jobs::AttemptKey> ended_;
};

std::uint64_t open_key(NodeId node, Phase phase) {
  return std::uint64_t{node} << 8 | static_cast<std::uint64_t>(phase);
}

NodeId Replay::node_of(const journal::Event& event) const {
  const auto node = graph_.find(event.node);
  if (!node) throw Error(fmt::format("the journal speaks of node {}, which {} does not define", event.node, file_));
  return *node;
}

Phase Replay::phase_of(const Json& json) const {
  return jobs::phase_from(json.at("phase").get<std::string>()).value_or(Phase::job);
}

void Replay::apply(const journal::Event& event) {
  switch (event.kind) {
    case Kind::dag:
      return on_definition(Json::parse(event.json));
    case Kind::declared:
      out_.declared = Json::parse(event.json);
      return;
    case Kind::submitting:
      return on_submitting(event);
    case Kind::epoch:
      return on_epoch(event);
    case Kind::attempt_ended:
      return on_ended(event);
    case Kind::queued:
    case Kind::active:
      out_.progress[node_of(event)].native_id = Json::parse(event.json).value("native_id", "");
      return;
    case Kind::escalated:
      out_.progress[node_of(event)].memory_mb = Json::parse(event.json).at("to_mb");
      return;
    case Kind::node_done:
      return settle(event, Recovered::Final::done);
    case Kind::node_failed:
      return settle(event, Recovered::Final::failed);
    case Kind::node_reset:
      return settle(event, Recovered::Final::none);
    case Kind::dag_ended:
      out_.ended = true;
      return;
    default:
      return;
  }
}

void Replay::on_definition(const Json& json) {
  out_.dag_uuid = json.at("uuid");
  out_.digest = json.at("digest");
  if (out_.digest == digest(graph_)) return;
  throw InputError(
      fmt::format("{} is not what it was when this experiment was started: its runs, jobs or descriptions differ",
                  file_),
      "undo the change to go on, or move the .godwit folder beside it out of the way to begin anew");
}

void Replay::on_submitting(const journal::Event& event) {
  const NodeId node = node_of(event);
  const Json json = Json::parse(event.json);
  const Phase phase = phase_of(json);
  out_.attempts[node] = std::max(out_.attempts[node], event.attempt);
  Recovered::Progress& progress = out_.progress[node];
  progress.resume_at_post = false;
  if (phase == Phase::job) {
    progress.metrics_offset = 0;
    progress.epoch_before = progress.last_epoch;
  }
  open_[open_key(node, phase)] = {node, event.attempt, phase, json.value("site", "")};
}

void Replay::on_epoch(const journal::Event& event) {
  Recovered::Progress& progress = out_.progress[node_of(event)];
  const Json json = Json::parse(event.json);
  progress.metrics_offset = json.value("_offset", std::uint64_t{0}) + 1;
  if (const auto epoch = json.find("epoch"); epoch != json.end() && epoch->is_number_integer())
    progress.last_epoch = std::max(progress.last_epoch, epoch->get<std::int64_t>());
}

void Replay::on_ended(const journal::Event& event) {
  const NodeId node = node_of(event);
  const Json json = Json::parse(event.json);
  const Phase phase = phase_of(json);
  open_.erase(open_key(node, phase));
  ended_.push_back({out_.dag_uuid, event.node, event.attempt, phase});
  if (ended_.size() > kRecentlyEnded) ended_.pop_front();
  if (phase == Phase::hold || phase == Phase::service) return;
  Recovered::Progress& progress = out_.progress[node];
  const std::string retry = json.value("retry", "none");
  if (retry == "retried") ++progress.retries_used;
  progress.resume_at_post = phase == Phase::post && retry == "continued";
  if (phase == Phase::job) progress.job_ending = ending_from(json);
}

void Replay::settle(const journal::Event& event, Recovered::Final end) {
  const NodeId node = node_of(event);
  out_.finals[node] = end;
  if (end == Recovered::Final::none) out_.ended = false;
  out_.progress.erase(node);
}

Recovered Replay::result() && {
  for (const auto& [key, open] : open_) out_.open.push_back(open);
  std::sort(out_.open.begin(), out_.open.end(),
            [](const auto& a, const auto& b) { return std::pair(a.node, a.phase) < std::pair(b.node, b.phase); });
  out_.recently_ended.assign(ended_.begin(), ended_.end());
  return std::move(out_);
}

}  // namespace

Recovered recover(journal::Journal& journal, const dag::Graph& graph, const std::string& file) {
  Replay replay(graph, file);
  journal.replay(0, [&](const journal::Event& event) { replay.apply(event); });
  return std::move(replay).result();
}

}  // namespace godwit::engine
