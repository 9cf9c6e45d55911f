#include "godwit/engine/steering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "godwit/base/units.h"
#include "godwit/engine/early_stop.h"

namespace godwit::engine {

using dag::NodeId;
using dag::RunId;
using journal::Kind;

namespace {

Json number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace

Steering::Steering(const dag::Graph& graph, Plan& plan, const MetricBook& book, Log log)
    : graph_(graph), plan_(plan), book_(book), log_(std::move(log)), promoted_to_(graph.sites().size(), dag::kNoNode) {
  if (graph.rules.early_stop || graph.rules.asha) know_runs();
  if (!graph.rules.asha) return;
  std::uint32_t most = 0;
  index_.resize(graph.size());
  for (const State& run : runs_) {
    most = std::max(most, static_cast<std::uint32_t>(run.jobs.size()));
    for (std::size_t i = 0; i < run.jobs.size(); ++i) index_[run.jobs[i]] = static_cast<std::uint32_t>(i);
  }
  rungs_ = rungs_of(*graph.rules.asha, graph.rules.asha->max != 0 ? std::min(most, graph.rules.asha->max) : most);
  asha_.emplace(*graph.rules.asha, rungs_.size());
}

void Steering::know_runs() {
  if (!runs_.empty()) return;
  runs_.resize(graph_.runs().size());
  for (RunId run = 0; run < runs_.size(); ++run) by_uuid_.emplace(graph_.runs()[run].uuid, run);
  for (NodeId node = 0; node < graph_.size(); ++node)
    if (graph_.kind(node) == dag::NodeKind::train && graph_.run_of(node) != dag::kNoRun)
      runs_[graph_.run_of(node)].jobs.push_back(node);
}

// --- where things are -------------------------------------------------------------------------------------------

std::optional<RunId> Steering::run_named(const std::string& uuid) {
  know_runs();
  const auto found = by_uuid_.find(uuid);
  return found == by_uuid_.end() ? std::nullopt : std::optional(found->second);
}

// The rung that a run reaches with this training job.
std::optional<std::uint32_t> Steering::rung_of(NodeId job) const {
  if (!asha_ || job == dag::kNoNode) return std::nullopt;
  const auto found = std::lower_bound(rungs_.begin(), rungs_.end(), index_[job] + 1);
  if (found == rungs_.end() || *found != index_[job] + 1) return std::nullopt;
  return static_cast<std::uint32_t>(found - rungs_.begin());
}

NodeId Steering::job_of_evaluation(NodeId node) const {
  for (const NodeId parent : graph_.parents(node))
    if (graph_.kind(parent) == dag::NodeKind::train) return parent;
  return dag::kNoNode;
}

// The first training job that has not come to an end; kNoNode where all have.
NodeId Steering::next_job(const State& run) const {
  const auto open = [&](NodeId job) {
    const NodeState state = plan_.state(job);
    return state == NodeState::waiting || state == NodeState::ready || state == NodeState::running;
  };
  // Those that are done come first, except where some are done again.
  const auto begin =
      !run.redone.empty() ? run.jobs.begin() : std::partition_point(run.jobs.begin(), run.jobs.end(), [&](NodeId job) {
        return plan_.state(job) == NodeState::done;
      });
  const auto found = std::find_if(begin, run.jobs.end(), open);
  return found == run.jobs.end() ? dag::kNoNode : *found;
}

Json Steering::about(RunId run, std::string_view by) const {
  return {{"run", graph_.runs()[run].uuid}, {"by", by}};
}

// --- recovery ---------------------------------------------------------------------------------------------------

void Steering::replay(const journal::Event& event, NodeId node) {
  if (event.kind == Kind::node_done && node != dag::kNoNode) return observe_done(node);
  if (event.kind == Kind::node_reset && node != dag::kNoNode && Json::parse(event.json).at("by") == "redo")
    return on_redo(node);
  if (event.kind != Kind::run_paused && event.kind != Kind::run_promoted && event.kind != Kind::run_pruned) return;
  const Json json = Json::parse(event.json);
  const auto run = run_named(json.at("run"));
  if (!run) return;  // an edit took it away
  State& state = runs_[*run];
  if (event.kind == Kind::run_paused) {
    if (json.at("by") == "hand")
      state.paused_by_hand = true;
    else
      state.rung = json.value("rung", 0u);
  } else if (event.kind == Kind::run_promoted) {
    if (asha_ && state.rung && *state.rung + 1 < rungs_.size()) asha_->promote(*run, *state.rung);
    state.rung.reset();
    state.paused_by_hand = false;
  } else {
    state.pruned = true;
    state.pruned_because = dump({{"by", json.at("by")}, {"reason", json.value("reason", "")}});
  }
}

void Steering::resume() {
  for (RunId run = 0; run < runs_.size(); ++run) {
    // The rule is gone: nothing would ever let it go on.
    if (!asha_) runs_[run].rung.reset();
    hold_or_release(run);
    if (runs_[run].pruned) prune_rest(run);
  }
}

// --- what is known ----------------------------------------------------------------------------------------------

// What a run had reached when it came to the end of the job.
std::optional<double> Steering::rung_value(NodeId job) const {
  const auto& series = book_.series(graph_.run_of(job), graph_.rules.asha->metric);
  const auto after = series.upper_bound(epoch_of(graph_, job, "last_epoch"));
  if (after == series.begin()) return std::nullopt;
  return std::prev(after)->second;
}

void Steering::observe_done(NodeId node) {
  if (!asha_ || graph_.run_of(node) == dag::kNoRun) return;
  const bool evaluation = graph_.kind(node) == dag::NodeKind::evaluate;
  if (evaluation != graph_.rules.asha->metric.of_evaluation()) return;
  const NodeId job = evaluation ? job_of_evaluation(node) : node;
  const auto rung = rung_of(job);
  if (!rung) return;
  asha_->record(graph_.run_of(job), *rung, rung_value(job).value_or(std::numeric_limits<double>::quiet_NaN()));
}

void Steering::on_done(NodeId node) {
  const RunId run = graph_.run_of(node);
  if (run == dag::kNoRun || runs_.empty()) return;
  observe_done(node);
  if (runs_[run].pruned) return prune_rest(run);
  if (std::find(runs_[run].redone.begin(), runs_[run].redone.end(), node) != runs_[run].redone.end()) return;
  stop_early(node);
  if (!runs_[run].pruned && graph_.kind(node) == dag::NodeKind::train) halve(node);
}

void Steering::on_redo(NodeId node) {
  const RunId run = graph_.run_of(node);
  if (run == dag::kNoRun) return;
  know_runs();
  runs_[run].redone.push_back(node);
}

void Steering::on_requeued(NodeId node) {
  const RunId run = graph_.run_of(node);
  if (run != dag::kNoRun && !runs_.empty() && runs_[run].pruned) prune_rest(run);
}

// --- early stopping ---------------------------------------------------------------------------------------------

void Steering::stop_early(NodeId node) {
  const auto& rule = graph_.rules.early_stop;
  const bool evaluation = graph_.kind(node) == dag::NodeKind::evaluate;
  if (!rule || rule->metric.of_evaluation() != evaluation) return;
  if (!evaluation && graph_.kind(node) != dag::NodeKind::train) return;
  const RunId run = graph_.run_of(node);
  if (next_job(runs_[run]) == dag::kNoNode) return;
  const auto stop = exhausted(*rule, book_.series(run, rule->metric));
  if (!stop) return;
  Json why = about(run, "early_stop");
  why["epoch"] = stop->epoch;
  why["metric"] = rule->metric.name;
  why["best"] = number(stop->best_epoch == 0 ? std::nullopt : std::optional(stop->best));
  why["best_epoch"] = stop->best_epoch;
  const std::string by = rule->min_delta > 0 ? fmt::format(" by more than {}", rule->min_delta) : "";
  why["reason"] = stop->best_epoch == 0 ? fmt::format("{} has never been a number", rule->metric.name)
                                        : fmt::format("{} has not improved{} on {:.6g} of epoch {} in {}",
                                                      rule->metric.name, by, stop->best, stop->best_epoch,
                                                      format_count(stop->epoch - stop->best_epoch, "epoch"));
  prune_run(run, std::move(why));
}

// --- successive halving -----------------------------------------------------------------------------------------

// At a rung the run waits until it is promoted. Past the highest there is no more to decide.
void Steering::halve(NodeId job) {
  const auto rung = rung_of(job);
  const RunId run = graph_.run_of(job);
  if (!rung || *rung + 1 >= rungs_.size() || next_job(runs_[run]) == dag::kNoNode) return;
  runs_[run].rung = rung;
  Json why = about(run, "asha");
  why["rung"] = *rung;
  why["epoch"] = epoch_of(graph_, job, "last_epoch");
  why["metric"] = graph_.rules.asha->metric.name;
  why["value"] = number(rung_value(job));
  why["reason"] = fmt::format("it waits at rung {} of successive halving", *rung);
  log_(Kind::run_paused, dag::kNoNode, dump(why));
  hold_or_release(run);
}

bool Steering::begins_run(NodeId node) const {
  return graph_.kind(node) == dag::NodeKind::train && graph_.run_of(node) != dag::kNoRun && index_[node] == 0;
}

void Steering::offer(dag::SiteId site) {
  if (!asha_) return;
  NodeId& promised = promoted_to_[site];
  if (promised != dag::kNoNode && plan_.state(promised) == NodeState::ready) return;
  promised = dag::kNoNode;
  // What has begun goes on before anybody is promoted; what has not, after.
  if (const auto first = plan_.peek_ready(site); first && !begins_run(*first)) return;
  const auto candidate = asha_->promotable([&](RunId run) {
    const State& state = runs_[run];
    if (!state.rung || state.paused_by_hand || state.pruned) return false;
    const NodeId next = next_job(state);
    return next != dag::kNoNode && graph_.planned_site(next) == site && plan_.may_start(next);
  });
  if (!candidate) return;
  State& state = runs_[candidate->run];
  promised = next_job(state);
  asha_->promote(candidate->run, candidate->rung);
  state.rung.reset();
  Json why = about(candidate->run, "asha");
  why["rung"] = candidate->rung + 1;
  why["reason"] =
      fmt::format("among the best {} of {} at rung {}", asha_->size(candidate->rung) / graph_.rules.asha->reduction,
                  asha_->size(candidate->rung), candidate->rung);
  log_(Kind::run_promoted, dag::kNoNode, dump(why));
  hold_or_release(candidate->run);
}

bool Steering::wind_up() {
  bool any = false;
  // Whom a person has paused may yet come to a rung and let others go on.
  const auto by_hand = [](const State& run) { return run.paused_by_hand && !run.pruned; };
  if (std::any_of(runs_.begin(), runs_.end(), by_hand)) return false;
  for (RunId run = 0; run < runs_.size(); ++run) {
    const State& state = runs_[run];
    if (!state.rung || state.pruned) continue;
    any = true;
    Json why = about(run, "asha");
    why["rung"] = *state.rung;
    const NodeId next = next_job(state);
    if (next != dag::kNoNode) why["epoch"] = epoch_of(graph_, next, "first_epoch") - 1;
    why["metric"] = graph_.rules.asha->metric.name;
    why["reason"] =
        fmt::format("not among the best {} of {} at rung {} of successive halving",
                    asha_->size(*state.rung) / graph_.rules.asha->reduction, asha_->size(*state.rung), *state.rung);
    prune_run(run, std::move(why));
  }
  return any;
}

// --- by hand ----------------------------------------------------------------------------------------------------

void Steering::pause(const std::string& uuid) {
  const auto run = run_named(uuid);
  if (!run || runs_[*run].pruned || runs_[*run].paused_by_hand || next_job(runs_[*run]) == dag::kNoNode) return;
  runs_[*run].paused_by_hand = true;
  Json why = about(*run, "hand");
  why["reason"] = "paused by hand";
  log_(Kind::run_paused, dag::kNoNode, dump(why));
  hold_or_release(*run);
}

void Steering::promote(const std::string& uuid) {
  const auto run = run_named(uuid);
  if (!run) return;
  State& state = runs_[*run];
  if (state.pruned || (!state.paused_by_hand && !state.rung)) return;
  Json why = about(*run, "hand");
  if (state.rung) {
    why["rung"] = *state.rung + 1;
    asha_->promote(*run, *state.rung);
  }
  why["reason"] = "promoted by hand";
  state.rung.reset();
  state.paused_by_hand = false;
  log_(Kind::run_promoted, dag::kNoNode, dump(why));
  hold_or_release(*run);
}

std::optional<NodeId> Steering::prune(const std::string& uuid) {
  const auto run = run_named(uuid);
  if (!run || runs_[*run].pruned) return std::nullopt;
  const NodeId next = next_job(runs_[*run]);
  if (next == dag::kNoNode) return std::nullopt;
  Json why = about(*run, "hand");
  why["epoch"] = epoch_of(graph_, next, "first_epoch") - 1;
  why["reason"] = "pruned by hand";
  prune_run(*run, std::move(why));
  return plan_.state(next) == NodeState::running ? std::optional(next) : std::nullopt;
}

// --- what follows -----------------------------------------------------------------------------------------------

void Steering::hold_or_release(RunId run) {
  const State& state = runs_[run];
  if (state.rung || state.paused_by_hand)
    plan_.hold(run);
  else
    plan_.release(run);
}

void Steering::prune_run(RunId run, Json why) {
  State& state = runs_[run];
  state.pruned = true;
  state.rung.reset();
  state.pruned_because = dump({{"by", why.at("by")}, {"reason", why.at("reason")}});
  log_(Kind::run_pruned, dag::kNoNode, dump(why));
  prune_rest(run);
}

void Steering::prune_rest(RunId run) {
  const NodeId next = next_job(runs_[run]);
  if (next == dag::kNoNode) return;
  const auto begin = std::find(runs_[run].jobs.begin(), runs_[run].jobs.end(), next);
  for (auto job = begin; job != runs_[run].jobs.end(); ++job)
    for (const NodeId pruned : plan_.prune(*job)) log_(Kind::node_pruned, pruned, runs_[run].pruned_because);
}

}  // namespace godwit::engine
