// Decides which training runs go on: by the rules that the graph has (early stopping, successive halving), and by hand.
// A run is paused (its next training job waits, what runs ends, evaluations go on), promoted (it goes on), or pruned:
// its training jobs that have not begun, and all that follows from them, are neither run nor needed.
//
// Every decision is an event before it takes effect. After a crash, replaying the events gives the same state, and so
// the same decisions from there on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/dag/graph.h"
#include "godwit/engine/asha.h"
#include "godwit/engine/metric_book.h"
#include "godwit/engine/plan.h"
#include "godwit/journal/event.h"

namespace godwit::engine {

class Steering {
 public:
  // Records an event, of a node or (kNoNode) of the Dag.
  using Log = std::function<void(journal::Kind, dag::NodeId, std::string json)>;

  Steering(const dag::Graph& graph, Plan& plan, const MetricBook& book, Log log);

  // What the journal tells, before resume(); `node` is kNoNode where the event is of none.
  void replay(const journal::Event& event, dag::NodeId node);
  // After a recovery, when the plan knows which nodes are done.
  void resume();

  // A node is done and the plan knows it.
  void on_done(dag::NodeId node);
  // A node that was done is to be done again.
  void on_redo(dag::NodeId node);
  // A node was put back to run again: it does not, where its run has been pruned meanwhile.
  void on_requeued(dag::NodeId node);
  // Before a free place at the site is given away: a run may be promoted to it.
  void offer(dag::SiteId site);
  // Nothing runs and nothing may begin. Prunes the paused runs that nothing can promote any more; false where there is
  // none.
  bool wind_up();
  // Results decide who goes on, so no more is begun than there are places.
  bool asynchronous() const { return asha_.has_value(); }

  // By hand, of a run named by its uuid. Nothing where it makes no sense (any more).
  void pause(const std::string& uuid);
  void promote(const std::string& uuid);
  // Returns the training job that is running, if one is: it is to leave.
  std::optional<dag::NodeId> prune(const std::string& uuid);

 private:
  struct State {
    std::vector<dag::NodeId> jobs;      // training jobs, in order
    std::optional<std::uint32_t> rung;  // paused there by successive halving
    bool paused_by_hand = false;
    bool pruned = false;
    std::string pruned_because;       // the JSON of its nodes' events
    std::vector<dag::NodeId> redone;  // jobs that were done and are done again: what they decided stands
  };

  void know_runs();
  std::optional<dag::RunId> run_named(const std::string& uuid);
  std::optional<std::uint32_t> rung_of(dag::NodeId job) const;
  dag::NodeId job_of_evaluation(dag::NodeId node) const;
  dag::NodeId next_job(const State& run) const;
  void observe_done(dag::NodeId node);
  std::optional<double> rung_value(dag::NodeId job) const;
  void stop_early(dag::NodeId node);
  void halve(dag::NodeId job);
  bool begins_run(dag::NodeId node) const;
  void hold_or_release(dag::RunId run);
  void prune_run(dag::RunId run, Json why);
  void prune_rest(dag::RunId run);
  Json about(dag::RunId run, std::string_view by) const;

  const dag::Graph& graph_;
  Plan& plan_;
  const MetricBook& book_;
  Log log_;
  std::vector<State> runs_;  // by RunId; empty until a rule or a decision needs them
  std::unordered_map<std::string, dag::RunId> by_uuid_;
  std::vector<std::uint32_t> index_;  // of a training job in its run, by NodeId; where successive halving is on
  std::vector<std::uint32_t> rungs_;  // after how many jobs each is reached
  std::optional<Asha> asha_;
  std::vector<dag::NodeId> promoted_to_;  // by SiteId: a job that was promoted and has not begun
};

}  // namespace godwit::engine
