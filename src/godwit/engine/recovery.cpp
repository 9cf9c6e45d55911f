#include "godwit/engine/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "godwit/base/json.h"
#include "godwit/engine/definition.h"
#include "godwit/engine/own_epochs.h"
#include "godwit/journal/metrics.h"

namespace godwit::engine {

using dag::NodeId;
using jobs::Phase;
using journal::Kind;

std::string ending_json(Phase phase, const jobs::Ending& ending, std::string_view retry,
                        const IdleContinuations& idle) {
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
  if (idle != IdleContinuations{}) json["idle"] = {idle.short_ones, idle.without_epoch};
  return dump(json);
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
  using Also = std::function<void(const journal::Event&, NodeId)>;

  Replay(const dag::Graph& graph, std::string file, const Also& also)
      : graph_(graph), file_(std::move(file)), also_(also) {
    out_.attempts.resize(graph.size());
    out_.finals.resize(graph.size(), Recovered::Final::none);
  }

  void apply(const journal::Event& event);
  Recovered result() &&;

 private:
  // Nothing where the graph has it no more.
  std::optional<NodeId> node_of(const journal::Event& event);
  Phase phase_of(const Json& json) const;
  void on_definition(const Json& json);
  void apply_to_node(const journal::Event& event, NodeId node);
  void apply_to_orphan(const journal::Event& event);
  void on_submitting(const journal::Event& event, NodeId node);
  void on_epoch(const journal::Event& event, NodeId node);
  void on_ended(const journal::Event& event, NodeId node);
  void settle(NodeId node, Recovered::Final end);
  void remember_end(jobs::AttemptKey key);

  const dag::Graph& graph_;
  std::string file_;
  const Also& also_;
  Recovered out_;
  std::unordered_map<std::uint64_t, Recovered::Open> open_;  // by node and phase
  std::map<std::string, Recovered::Orphan> orphans_;         // by the text of their keys
  std::deque<jobs::AttemptKey> ended_;
  std::string digest_;
  std::string unknown_;  // a node that the graph does not have
};

std::uint64_t open_key(NodeId node, Phase phase) {
  return std::uint64_t{node} << 8 | static_cast<std::uint64_t>(phase);
}

std::optional<NodeId> Replay::node_of(const journal::Event& event) {
  const auto node = graph_.find(event.node);
  if (!node) unknown_ = event.node;
  return node;
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
    case Kind::dag_ended:
      out_.ended = true;
      return;
    default:
      break;
  }
  if (event.node.empty()) return also_(event, dag::kNoNode);
  if (const auto node = node_of(event)) {
    apply_to_node(event, *node);
    also_(event, *node);
  } else {
    apply_to_orphan(event);
  }
}

void Replay::apply_to_node(const journal::Event& event, NodeId node) {
  switch (event.kind) {
    case Kind::submitting:
      return on_submitting(event, node);
    case Kind::epoch:
      return on_epoch(event, node);
    case Kind::attempt_ended:
      return on_ended(event, node);
    case Kind::queued:
    case Kind::active:
      out_.progress[node].native_id = Json::parse(event.json).value("native_id", "");
      return;
    case Kind::warning:
      if (Json::parse(event.json).value("about", "") == "foreign_epochs") out_.progress[node].told_of_others = true;
      return;
    case Kind::escalated:
      out_.progress[node].memory_mb = Json::parse(event.json).at("to_mb");
      return;
    case Kind::node_done:
      return settle(node, Recovered::Final::done);
    case Kind::node_failed:
      return settle(node, Recovered::Final::failed);
    case Kind::node_pruned:
      return settle(node, Recovered::Final::pruned);
    case Kind::node_reset:
      return settle(node, Recovered::Final::none);
    default:
      return;
  }
}

void Replay::apply_to_orphan(const journal::Event& event) {
  if (event.kind != Kind::submitting && event.kind != Kind::attempt_ended) return;
  const Json json = Json::parse(event.json);
  jobs::AttemptKey key{out_.dag_uuid, event.node, event.attempt, phase_of(json)};
  if (event.kind == Kind::submitting) {
    orphans_.try_emplace(key.text(), Recovered::Orphan{key, json.value("site", "")});
  } else {
    orphans_.erase(key.text());
    remember_end(std::move(key));
  }
}

void Replay::remember_end(jobs::AttemptKey key) {
  ended_.push_back(std::move(key));
  if (ended_.size() > kRecentlyEnded) ended_.pop_front();
}

void Replay::on_definition(const Json& json) {
  out_.dag_uuid = json.at("uuid");
  digest_ = json.at("digest");
  out_.revision = json.value("revision", 0u);
  out_.ended = false;
}

void Replay::on_submitting(const journal::Event& event, NodeId node) {
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

void Replay::on_epoch(const journal::Event& event, NodeId node) {
  Recovered::Progress& progress = out_.progress[node];
  const Json json = Json::parse(event.json);
  progress.metrics_offset = json.value("_offset", std::uint64_t{0}) + 1;
  if (!OwnEpochs(graph_, node).have(json)) return;
  if (const auto epoch = journal::named_epoch(json))
    progress.last_epoch = std::max(progress.last_epoch, std::int64_t{*epoch});
}

void Replay::on_ended(const journal::Event& event, NodeId node) {
  const Json json = Json::parse(event.json);
  const Phase phase = phase_of(json);
  open_.erase(open_key(node, phase));
  remember_end({out_.dag_uuid, event.node, event.attempt, phase});
  if (phase == Phase::hold || phase == Phase::service) return;
  Recovered::Progress& progress = out_.progress[node];
  const std::string retry = json.value("retry", "none");
  if (retry == "retried") ++progress.retries_used;
  progress.idle = {};
  if (const auto idle = json.find("idle"); idle != json.end()) progress.idle = {idle->at(0), idle->at(1)};
  progress.resume_at_post = phase == Phase::post && retry == "continued";
  if (phase == Phase::job) progress.job_ending = ending_from(json);
}

void Replay::settle(NodeId node, Recovered::Final end) {
  out_.finals[node] = end;
  if (end == Recovered::Final::none) out_.ended = false;
  out_.progress.erase(node);
}

Recovered Replay::result() && {
  out_.edited = !out_.dag_uuid.empty() && digest_ != digest(graph_);
  if (!out_.edited && out_.revision == 0 && !unknown_.empty())
    throw Error(fmt::format("the journal speaks of node {}, which {} does not define", unknown_, file_));
  for (auto& [key, orphan] : orphans_) out_.orphans.push_back(std::move(orphan));
  for (const auto& [key, open] : open_) out_.open.push_back(open);
  std::sort(out_.open.begin(), out_.open.end(),
            [](const auto& a, const auto& b) { return std::pair(a.node, a.phase) < std::pair(b.node, b.phase); });
  out_.recently_ended.assign(ended_.begin(), ended_.end());
  return std::move(out_);
}

}  // namespace

Recovered recover(journal::Journal& journal, const dag::Graph& graph, const std::string& file,
                  const std::function<void(const journal::Event&, NodeId)>& also) {
  Replay replay(graph, file, also);
  journal.replay(0, [&](const journal::Event& event) { replay.apply(event); });
  return std::move(replay).result();
}

}  // namespace godwit::engine
