// Records what every training job's checkpoint is when the job is done, so that what goes on from it can tell whether
// it still is. Of every run's checkpoints it keeps those that the rule keeps, where there is one, and deletes the
// others: each only after the one that follows it was read again and is as it was recorded, after its evaluation is
// done, and after the journal says so. A run's last checkpoint is never deleted, so that the run goes on from it,
// however good an earlier one is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/dag/graph.h"
#include "godwit/engine/checkpoint_store.h"
#include "godwit/engine/metric_book.h"
#include "godwit/engine/plan.h"
#include "godwit/journal/event.h"

namespace godwit::engine {

class Keeper {
 public:
  // Records an event of a node.
  using Log = std::function<void(journal::Kind, dag::NodeId, std::string json)>;

  // Does nothing where training jobs leave no checkpoint. All must outlive it.
  Keeper(const dag::Graph& graph, const Plan& plan, const MetricBook& book, CheckpointStore& store, Log log);

  // What the journal tells, before resume().
  void replay(const journal::Event& event, dag::NodeId node);
  // After a recovery: records what was not recorded, deletes what was to be deleted.
  void resume();

  // The checkpoint that the node's job begins with, as it was recorded; nothing where it takes none, or one that is not
  // recorded (yet).
  struct Input {
    std::string folder;
    Content content;
  };
  std::optional<Input> input_of(dag::NodeId node);

  // The checkpoint that the node's job begins with is recorded as it is now.
  void accept_input_of(dag::NodeId node);
  // A job that was done is to be done again: nothing is known of its checkpoint any more.
  void forget(dag::NodeId node);
  // A training or evaluation node has come to its end.
  void on_end(dag::NodeId node);
  // Takes the store's answers; true where there was one.
  bool poll();
  // What is recorded by now takes effect.
  void act();
  // Nothing is being read or deleted, or is to be.
  bool idle() const { return !active() || (to_remove_.empty() && under_way_ == 0); }
  int wake_fd() const { return active() ? store_.wake_fd() : -1; }

 private:
  enum class State : std::uint8_t {
    unmeasured,
    recorded,
    verifying,  // being read again
    verified,   // … and as recorded
    damaged,    // … and not; or it is not there
    dropped,
  };
  struct Checkpoint {
    dag::NodeId node = 0;
    std::uint32_t epoch = 0;
    State state = State::unmeasured;
    Content content;
  };
  using Checkpoints = std::vector<Checkpoint>;  // of a run, by increasing epoch

  bool active() const { return !graph_.rules.checkpoint.empty(); }
  bool deletes() const { return graph_.rules.keep.has_value(); }
  bool is_needed(dag::NodeId node) const;
  bool leaves_checkpoint(dag::NodeId node) const;
  std::string folder(const Checkpoint& checkpoint) const;
  Checkpoint& checkpoint_of(dag::NodeId node);
  Checkpoint* find(dag::RunId run, std::uint32_t epoch);
  Checkpoint* input_checkpoint_of(dag::NodeId node);
  void measure(dag::NodeId node);
  void record(dag::NodeId node, const std::optional<Content>& measured);
  void verify(Checkpoint& checkpoint);
  void judge_verified(dag::NodeId node, const std::optional<Content>& measured);
  void review(dag::RunId run);
  void drop(Checkpoint& checkpoint);
  // All that takes its checkpoint has come to its end.
  bool is_used_up(dag::NodeId node) const;
  bool will_be_evaluated(dag::NodeId node) const;
  void warn(dag::NodeId node, const std::string& message);

  const dag::Graph& graph_;
  const Plan& plan_;
  const MetricBook& book_;
  CheckpointStore& store_;
  Log log_;
  std::unordered_map<dag::RunId, Checkpoints> runs_;
  std::vector<dag::NodeId> to_remove_;
  std::size_t under_way_ = 0;  // what the store has been asked and has not answered
  bool warned_of_metric_ = false;
};

}  // namespace godwit::engine
