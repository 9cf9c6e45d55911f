#include "godwit/engine/keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/json.h"
#include "godwit/dag/keep_rule.h"
#include "godwit/journal/log_files.h"

namespace godwit::engine {

using dag::NodeId;
using journal::Kind;

Keeper::Keeper(const dag::Graph& graph, const Plan& plan, const MetricBook& book, CheckpointStore& store, Log log)
    : graph_(graph), plan_(plan), book_(book), store_(store), log_(std::move(log)) {}

bool Keeper::leaves_checkpoint(NodeId node) const {
  return active() && graph_.kind(node) == dag::NodeKind::train && graph_.run_of(node) != dag::kNoRun;
}

std::string Keeper::folder(const Checkpoint& checkpoint) const {
  return journal::checkpoint_folder(graph_.runs()[graph_.run_of(checkpoint.node)].uuid, checkpoint.epoch);
}

namespace {

// The first checkpoint of that epoch or a later one.
template <typename Checkpoints>
auto from_epoch(Checkpoints& all, std::uint32_t epoch) {
  return std::lower_bound(all.begin(), all.end(), epoch,
                          [](const auto& known, std::uint32_t of) { return known.epoch < of; });
}

}  // namespace

Keeper::Checkpoint& Keeper::checkpoint_of(NodeId node) {
  Checkpoints& all = runs_[graph_.run_of(node)];
  const std::uint32_t epoch = epoch_of(graph_, node, "last_epoch");
  const auto place = from_epoch(all, epoch);
  if (place != all.end() && place->epoch == epoch) return *place;
  return *all.insert(place, Checkpoint{node, epoch, State::unmeasured, {}});
}

Keeper::Checkpoint* Keeper::find(dag::RunId run, std::uint32_t epoch) {
  const auto known = runs_.find(run);
  if (!active() || known == runs_.end()) return nullptr;
  const auto place = from_epoch(known->second, epoch);
  return place == known->second.end() || place->epoch != epoch ? nullptr : &*place;
}

// --- recovery ---------------------------------------------------------------------------------------------------

void Keeper::replay(const journal::Event& event, NodeId node) {
  // Whom an engine let go on from what it found, before it could record that.
  if (event.kind == Kind::node_reset && Json::parse(event.json).at("by") == "accept") {
    if (Checkpoint* input = input_checkpoint_of(node); input != nullptr && input->state != State::dropped)
      *input = {input->node, input->epoch, State::unmeasured, {}};
    return;
  }
  if (!leaves_checkpoint(node)) return;
  switch (event.kind) {
    case Kind::node_done:
      checkpoint_of(node) = {node, epoch_of(graph_, node, "last_epoch"), State::unmeasured, {}};
      break;
    case Kind::node_reset:
      forget(node);
      break;
    case Kind::checkpoint: {
      const Json json = Json::parse(event.json);
      Checkpoint& checkpoint = checkpoint_of(node);
      checkpoint.state = State::recorded;
      checkpoint.content = {json.at("bytes"), hash128_from(json.at("digest").get<std::string>()).value_or(Hash128{})};
      break;
    }
    case Kind::checkpoint_dropped:
      checkpoint_of(node).state = State::dropped;
      break;
    default:
      break;
  }
}

void Keeper::resume() {
  if (!active()) return;
  for (auto& [run, checkpoints] : runs_) {
    for (Checkpoint& checkpoint : checkpoints) {
      if (checkpoint.state == State::unmeasured && is_needed(checkpoint.node)) measure(checkpoint.node);
      if (checkpoint.state == State::dropped && store_.exists(folder(checkpoint)))
        to_remove_.push_back(checkpoint.node);
    }
    review(run);
  }
}

// Of a journal that does not record checkpoints, only those that are still to be used are read.
bool Keeper::is_needed(NodeId node) const {
  return deletes() || !is_used_up(node);
}

// --- what checkpoints are ---------------------------------------------------------------------------------------

void Keeper::on_end(NodeId node) {
  if (!active() || graph_.run_of(node) == dag::kNoRun) return;
  if (graph_.kind(node) == dag::NodeKind::evaluate) return review(graph_.run_of(node));
  if (graph_.kind(node) != dag::NodeKind::train || plan_.state(node) != NodeState::done) return;
  checkpoint_of(node);
  measure(node);
}

Keeper::Checkpoint* Keeper::input_checkpoint_of(NodeId node) {
  return find(graph_.run_of(node), epoch_of(graph_, node, "checkpoint_epoch"));
}

std::optional<Keeper::Input> Keeper::input_of(NodeId node) {
  const Checkpoint* checkpoint = input_checkpoint_of(node);
  if (checkpoint == nullptr || checkpoint->content == Content{}) return std::nullopt;
  return Input{folder(*checkpoint), checkpoint->content};
}

void Keeper::accept_input_of(NodeId node) {
  Checkpoint* checkpoint = input_checkpoint_of(node);
  if (checkpoint == nullptr || checkpoint->state == State::dropped) return;
  *checkpoint = {checkpoint->node, checkpoint->epoch, State::unmeasured, {}};
  measure(checkpoint->node);
}

void Keeper::forget(NodeId node) {
  if (!leaves_checkpoint(node)) return;
  std::erase(to_remove_, node);
  const std::uint32_t epoch = epoch_of(graph_, node, "last_epoch");
  std::erase_if(runs_[graph_.run_of(node)], [&](const Checkpoint& known) { return known.epoch == epoch; });
}

void Keeper::measure(NodeId node) {
  ++under_way_;
  store_.measure(folder(checkpoint_of(node)),
                 [this, node](const std::optional<Content>& measured) { record(node, measured); });
}

void Keeper::record(NodeId node, const std::optional<Content>& measured) {
  --under_way_;
  if (plan_.state(node) != NodeState::done) return;  // it is done again meanwhile
  Checkpoint& checkpoint = checkpoint_of(node);
  if (measured) {
    checkpoint.state = State::recorded;
    checkpoint.content = *measured;
    log_(Kind::checkpoint, node,
         Json{{"epoch", checkpoint.epoch}, {"bytes", measured->bytes}, {"digest", hex(measured->digest)}}.dump());
  } else {
    checkpoint.state = State::damaged;
    warn(node, fmt::format("{} is not there, or cannot be read", folder(checkpoint)));
  }
  review(graph_.run_of(node));
}

void Keeper::verify(Checkpoint& checkpoint) {
  checkpoint.state = State::verifying;
  ++under_way_;
  store_.measure(folder(checkpoint), [this, node = checkpoint.node](const std::optional<Content>& measured) {
    judge_verified(node, measured);
  });
}

void Keeper::judge_verified(NodeId node, const std::optional<Content>& measured) {
  --under_way_;
  if (plan_.state(node) != NodeState::done) return;
  Checkpoint& checkpoint = checkpoint_of(node);
  checkpoint.state = measured == checkpoint.content ? State::verified : State::damaged;
  if (checkpoint.state == State::damaged)
    warn(node, fmt::format("{} is not what it was: {}; the checkpoints before it are kept", folder(checkpoint),
                           difference_of(measured, checkpoint.content)));
  review(graph_.run_of(node));
}

// --- which go ---------------------------------------------------------------------------------------------------

bool Keeper::is_used_up(NodeId node) const {
  return std::all_of(graph_.children(node).begin(), graph_.children(node).end(), [&](NodeId child) {
    return plan_.state(child) == NodeState::done || plan_.state(child) == NodeState::pruned;
  });
}

bool Keeper::will_be_evaluated(NodeId node) const {
  return std::any_of(graph_.children(node).begin(), graph_.children(node).end(), [&](NodeId child) {
    return graph_.kind(child) == dag::NodeKind::evaluate && plan_.state(child) != NodeState::pruned;
  });
}

void Keeper::review(dag::RunId run) {
  if (!deletes()) return;
  const dag::KeepRule& rule = *graph_.rules.keep;
  std::vector<Checkpoint*> there;
  std::vector<dag::CheckpointValue> values;
  for (Checkpoint& checkpoint : runs_[run]) {
    if (checkpoint.state == State::dropped) continue;
    dag::CheckpointValue value{checkpoint.epoch, epoch_of(graph_, checkpoint.node, "first_epoch") - 1, true, {}};
    if (rule.metric) {
      value.value = book_.at(run, *rule.metric, checkpoint.epoch);
      value.judged = value.value || (rule.metric->of_evaluation() && !will_be_evaluated(checkpoint.node));
    }
    there.push_back(&checkpoint);
    values.push_back(value);
  }
  const std::vector<bool> kept = dag::kept_by(rule, values);
  for (std::size_t i = 0; i + 1 < there.size(); ++i) {
    const bool settled = there[i]->state == State::recorded || there[i]->state == State::verified;
    if (kept[i] || !settled || !is_used_up(there[i]->node)) continue;
    // The one that follows it, whether it stays itself or not.
    if (there[i + 1]->state == State::recorded) verify(*there[i + 1]);
    if (there[i + 1]->state == State::verified) drop(*there[i]);
  }
  const auto unjudged = std::find_if(values.begin(), values.end(), [&](const auto& value) { return !value.judged; });
  if (warned_of_metric_ || unjudged == values.end() || rule.metric->of_evaluation()) return;
  warned_of_metric_ = true;
  warn(there[static_cast<std::size_t>(unjudged - values.begin())]->node,
       fmt::format("its jobs tell of no {} at epoch {}, so its checkpoint may be the best: it is kept",
                   rule.metric->name, unjudged->epoch));
}

void Keeper::drop(Checkpoint& checkpoint) {
  checkpoint.state = State::dropped;
  log_(Kind::checkpoint_dropped, checkpoint.node,
       Json{{"epoch", checkpoint.epoch}, {"bytes", checkpoint.content.bytes}}.dump());
  to_remove_.push_back(checkpoint.node);
}

// --- effects ----------------------------------------------------------------------------------------------------

bool Keeper::poll() {
  return active() && under_way_ != 0 && store_.poll();
}

void Keeper::act() {
  for (const NodeId node : to_remove_) {
    ++under_way_;
    store_.remove(folder(checkpoint_of(node)), [this, node](bool gone) {
      --under_way_;
      if (!gone) warn(node, fmt::format("{} cannot be deleted", folder(checkpoint_of(node))));
    });
  }
  to_remove_.clear();
}

void Keeper::warn(NodeId node, const std::string& message) {
  log_(Kind::warning, node,
       Json{{"message", fmt::format("{}: {}", graph_.name_of(node), message)}}.dump(-1, ' ', false,
                                                                                    Json::error_handler_t::replace));
}

}  // namespace godwit::engine
