#include "godwit/engine/plan.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_set>

namespace godwit::engine {

using dag::NodeId;
using jobs::Ending;
using jobs::Outcome;
using jobs::Phase;

std::string_view to_string(NodeState state) {
  switch (state) {
    case NodeState::waiting:
      return "waiting";
    case NodeState::ready:
      return "ready";
    case NodeState::running:
      return "running";
    case NodeState::done:
      return "done";
    case NodeState::failed:
      return "failed";
    case NodeState::futile:
      return "futile";
    case NodeState::pruned:
      return "pruned";
  }
  return "?";
}

std::string describe(const Ending& ending) {
  std::string text;
  switch (ending.outcome) {
    case Outcome::exited:
      text = fmt::format("exit code {}", ending.exit_code);
      break;
    case Outcome::signaled: {
      const char* name = sigabbrev_np(ending.signal);
      text = name != nullptr ? fmt::format("signal {} (SIG{})", ending.signal, name)
                             : fmt::format("signal {}", ending.signal);
      break;
    }
    default: {
      text = jobs::to_string(ending.outcome);
      for (char& c : text)
        if (c == '_') c = ' ';
    }
  }
  // Of a signal there is no more to say.
  if (!ending.detail.empty() && ending.outcome != Outcome::signaled) text += ": " + ending.detail;
  return text;
}

Plan::Plan(const dag::Graph& graph)
    : graph_(graph),
      state_(graph.size(), NodeState::waiting),
      pending_parents_(graph.size()),
      ready_(graph.sites().size()) {
  for (const auto& [name, limit] : graph.category_limits()) categories_[name].limit = limit;
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (graph.kind(node) == dag::NodeKind::service) continue;
    ++counts_.waiting;
    pending_parents_[node] = static_cast<std::uint32_t>(graph.parents(node).size());
    if (pending_parents_[node] == 0) enqueue(node);
  }
}

std::size_t& Plan::count(NodeState state) {
  switch (state) {
    case NodeState::waiting:
      return counts_.waiting;
    case NodeState::ready:
      return counts_.ready;
    case NodeState::running:
      return counts_.running;
    case NodeState::done:
      return counts_.done;
    case NodeState::failed:
      return counts_.failed;
    case NodeState::futile:
      return counts_.futile;
    case NodeState::pruned:
      return counts_.pruned;
  }
  throw Error("no such node state");
}

void Plan::set_state(NodeId node, NodeState state) {
  --count(state_[node]);
  state_[node] = state;
  ++count(state);
}

// A queue entry is one number, so that the smallest is the highest priority and, within it, the lowest id.
std::uint64_t Plan::rank(NodeId node) const {
  const std::int64_t order = std::int64_t{std::numeric_limits<std::int32_t>::max()} - graph_.attributes(node).priority;
  return static_cast<std::uint64_t>(order) << 32 | node;
}

void Plan::enqueue(NodeId node) {
  set_state(node, NodeState::ready);
  ready_[graph_.planned_site(node)].push(rank(node));
}

Plan::Category* Plan::category_of(NodeId node) {
  if (categories_.empty()) return nullptr;
  const auto found = categories_.find(graph_.attributes(node).category);
  return found == categories_.end() || found->second.limit == 0 ? nullptr : &found->second;
}

bool Plan::may_start(NodeId node) {
  if (graph_.max_jobs != 0 && counts_.running >= graph_.max_jobs) return false;
  const Category* category = category_of(node);
  return category == nullptr || category->running < category->limit;
}

std::optional<NodeId> Plan::peek_ready(dag::SiteId site) {
  if (graph_.max_jobs != 0 && counts_.running >= graph_.max_jobs) return std::nullopt;
  ReadyQueue& queue = ready_[site];
  for (; !queue.empty(); queue.pop()) {
    const NodeId node = static_cast<NodeId>(queue.top() & 0xffffffffu);
    if (state_[node] != NodeState::ready) continue;
    if (is_held(node)) {
      held_.at(graph_.run_of(node)).push_back(node);
      continue;
    }
    if (may_start(node)) return node;
    category_of(node)->parked.push(rank(node));
  }
  return std::nullopt;
}

std::optional<NodeId> Plan::take_ready(dag::SiteId site) {
  const std::optional<NodeId> node = peek_ready(site);
  if (!node) return std::nullopt;
  ready_[site].pop();
  mark_running(*node);
  return node;
}

void Plan::hold(dag::RunId run) {
  held_.try_emplace(run);
}

bool Plan::is_held(NodeId node) const {
  return graph_.kind(node) == dag::NodeKind::train && held_.contains(graph_.run_of(node));
}

void Plan::release(dag::RunId run) {
  const auto held = held_.find(run);
  if (held == held_.end()) return;
  const std::vector<NodeId> nodes = std::move(held->second);
  held_.erase(held);
  for (const NodeId node : nodes)
    if (state_[node] == NodeState::ready) enqueue(node);
}

std::vector<NodeId> Plan::prune(NodeId node) {
  if (state_[node] != NodeState::waiting && state_[node] != NodeState::ready) return {};
  std::vector<NodeId> pruned{node};
  books_.erase(node);
  set_state(node, NodeState::pruned);
  for (std::size_t i = 0; i < pruned.size(); ++i)
    for (const NodeId child : graph_.children(pruned[i]))
      if (state_[child] == NodeState::waiting) {
        set_state(child, NodeState::pruned);
        pruned.push_back(child);
      }
  return pruned;
}

void Plan::mark_running(NodeId node) {
  set_state(node, NodeState::running);
  if (Category* category = category_of(node)) ++category->running;
}

void Plan::leave_running(NodeId node) {
  if (state_[node] != NodeState::running) return;
  Category* category = category_of(node);
  if (category == nullptr) return;
  --category->running;
  while (!category->parked.empty()) {
    const NodeId parked = static_cast<NodeId>(category->parked.top() & 0xffffffffu);
    category->parked.pop();
    if (state_[parked] != NodeState::ready) continue;
    enqueue(parked);
    break;
  }
}

Phase Plan::first_phase(NodeId node) const {
  return graph_.attributes(node).pre ? Phase::pre : Phase::job;
}

const Ending* Plan::job_ending(NodeId node) const {
  const auto found = books_.find(node);
  return found == books_.end() || !found->second.job_ending ? nullptr : &*found->second.job_ending;
}

std::uint32_t Plan::retries_used(NodeId node) const {
  const auto found = books_.find(node);
  return found == books_.end() ? 0 : found->second.retries_used;
}

IdleContinuations Plan::idle_continuations(NodeId node) const {
  const auto found = books_.find(node);
  return found == books_.end() ? IdleContinuations{} : found->second.idle;
}

void Plan::restore_books(NodeId node, std::uint32_t retries_used, IdleContinuations idle,
                         std::optional<Ending> job_ending) {
  Books& books = books_[node];
  books.retries_used = retries_used;
  books.idle = idle;
  books.job_ending = std::move(job_ending);
}

Verdict Plan::judge(NodeId node, Phase phase, const Ending& ending, Gain gain) {
  switch (ending.outcome) {
    case Outcome::checkpointed:
    case Outcome::evicted:
    case Outcome::lost:
    case Outcome::disk_full:
      return judge_interruption(node, phase, ending, gain);
    default:
      break;
  }
  if (phase == Phase::pre) {
    if (ending.success()) return {Next::run_job, "PRE script succeeded"};
    return judge_failure(node, ending);
  }
  if (phase == Phase::job && graph_.attributes(node).post) {
    books_[node].job_ending = ending;
    return {Next::run_post, "the POST script decides"};
  }
  if (ending.success()) return {Next::done, ""};
  return judge_failure(node, ending);
}

Verdict Plan::judge_interruption(NodeId node, Phase phase, const Ending& ending, Gain gain) {
  IdleContinuations& idle = books_[node].idle;
  // Waiting for space is no fault of the job's, however often it happens.
  if (gain == Gain::epoch || ending.outcome == Outcome::disk_full) {
    idle = {};
  } else {
    idle.short_ones = gain == Gain::nothing ? idle.short_ones + 1 : 0;
    if (ending.outcome == Outcome::checkpointed) ++idle.without_epoch;
  }
  const bool too_short = idle.short_ones > kMaxIdleContinuations;
  if (too_short || idle.without_epoch > kMaxWithoutEpoch)
    return {Next::failed, fmt::format("no progress in {} attempts in a row ({})",
                                      too_short ? idle.short_ones : idle.without_epoch, describe(ending))};
  return {phase == Phase::post ? Next::resume_post : Next::resume, std::string(jobs::to_string(ending.outcome))};
}

Verdict Plan::judge_failure(NodeId node, const Ending& ending) {
  const dag::Attributes& attributes = graph_.attributes(node);
  Books& books = books_[node];
  if (ending.outcome == Outcome::canceled) return {Next::failed, "canceled"};
  // Trying again does not bring it back.
  if (ending.outcome == Outcome::input_changed) return {Next::failed, describe(ending)};
  if (ending.outcome == Outcome::exited && attributes.unless_exit == ending.exit_code)
    return {Next::failed, fmt::format("{}, which is not to be retried", describe(ending))};
  if (books.retries_used < attributes.retries) {
    ++books.retries_used;
    return {Next::retry, fmt::format("retry {} of {}", books.retries_used, attributes.retries)};
  }
  if (attributes.retries == 0) return {Next::failed, describe(ending)};
  return {Next::failed, fmt::format("{}, after {} {}", describe(ending), books.retries_used,
                                    books.retries_used == 1 ? "retry" : "retries")};
}

void Plan::finish(NodeId node) {
  leave_running(node);
  set_state(node, NodeState::done);
  if (!books_.empty()) books_.erase(node);
  for (const NodeId child : graph_.children(node))
    if (--pending_parents_[child] == 0 && state_[child] == NodeState::waiting) enqueue(child);
}

std::vector<NodeId> Plan::fail(NodeId node) {
  leave_running(node);
  set_state(node, NodeState::failed);
  std::vector<NodeId> futile;
  const auto spread_from = [&](NodeId from) {
    for (const NodeId child : graph_.children(from))
      if (state_[child] == NodeState::waiting) {
        set_state(child, NodeState::futile);
        futile.push_back(child);
      }
  };
  spread_from(node);
  for (std::size_t i = 0; i < futile.size(); ++i) spread_from(futile[i]);
  return futile;
}

std::vector<NodeId> Plan::futile_below(NodeId node) const {
  std::vector<NodeId> out{node};
  std::unordered_set<NodeId> seen{node};
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const NodeId child : graph_.children(out[i]))
      if (state_[child] == NodeState::futile && seen.insert(child).second) out.push_back(child);
  out.erase(out.begin());
  return out;
}

void Plan::requeue(NodeId node) {
  leave_running(node);
  await_parents(node);
}

void Plan::await_parents(NodeId node) {
  if (pending_parents_[node] == 0)
    enqueue(node);
  else
    set_state(node, NodeState::waiting);
}

void Plan::redo(NodeId node) {
  books_.erase(node);
  for (const NodeId child : graph_.children(node)) {
    ++pending_parents_[child];
    if (state_[child] == NodeState::ready) set_state(child, NodeState::waiting);
  }
  await_parents(node);
}

std::vector<NodeId> Plan::reset(NodeId node) {
  std::vector<NodeId> revived;
  books_.erase(node);
  const auto hopeless = [&](NodeId candidate) {
    for (const NodeId parent : graph_.parents(candidate))
      if (state_[parent] == NodeState::failed || state_[parent] == NodeState::futile) return true;
    return false;
  };
  if (hopeless(node)) return revived;
  await_parents(node);
  const auto spread_from = [&](NodeId from) {
    for (const NodeId child : graph_.children(from))
      if (state_[child] == NodeState::futile && !hopeless(child)) {
        set_state(child, NodeState::waiting);
        revived.push_back(child);
      }
  };
  spread_from(node);
  for (std::size_t i = 0; i < revived.size(); ++i) spread_from(revived[i]);
  return revived;
}

}  // namespace godwit::engine
