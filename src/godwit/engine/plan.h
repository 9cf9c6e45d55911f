// What must happen: the state of every node of a Dag, and the rules by which it changes. No I/O, no clock, no process;
// every rule is tested in memory. The Engine makes it happen and writes it down.
//
// The rules are DAGMan's (HTCondor manual, "DAGMan workflows"): a node is PRE script, job, POST script; the POST
// script's result, where there is one, is the node's; a node that fails is retried as a whole; the descendants of a
// failed node are futile. To these Godwit adds the endings that spend no retry: a checkpoint exit, an eviction, a lost
// attempt, a full disk.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/dag/graph.h"
#include "godwit/jobs/attempt.h"

namespace godwit::engine {

enum class NodeState : std::uint8_t { waiting, ready, running, done, failed, futile, pruned };

std::string_view to_string(NodeState state);

// What follows the end of a phase.
enum class Next : std::uint8_t {
  run_job,   // the PRE script succeeded
  run_post,  // the job ended, its POST script decides
  done,
  failed,
  retry,        // the whole node again, one retry spent
  resume,       // the whole node again in a new attempt, nothing spent
  resume_post,  // the POST script again in a new attempt: the job's result stands
};

struct Verdict {
  Next next = Next::done;
  std::string reason;  // for failed: a sentence; for the others what was decided, in a word or two
};

// How far an attempt got beyond those before it.
enum class Gain : std::uint8_t {
  nothing,
  time,   // it worked for a while
  epoch,  // it finished an epoch
};

// Continuations in a row that led nowhere.
struct IdleContinuations {
  std::uint32_t short_ones = 0;     // that did not even work for a while
  std::uint32_t without_epoch = 0;  // that the job asked for itself, by its checkpoint exit code
  friend bool operator==(const IdleContinuations&, const IdleContinuations&) = default;
};

struct Counts {
  std::size_t waiting = 0, ready = 0, running = 0, done = 0, failed = 0, futile = 0, pruned = 0;
};

class Plan {
 public:
  // More of them and the node counts as failed.
  static constexpr std::uint32_t kMaxIdleContinuations = 20;
  static constexpr std::uint32_t kMaxWithoutEpoch = 500;

  explicit Plan(const dag::Graph& graph);

  NodeState state(dag::NodeId node) const { return state_[node]; }
  const Counts& counts() const { return counts_; }
  // Nothing is waiting with hope, ready or running. Service nodes do not count.
  bool finished() const { return counts_.waiting + counts_.ready + counts_.running == 0; }
  bool success() const { return finished() && counts_.failed + counts_.futile == 0; }

  // Takes the next node of the site to run: highest priority first, then in the Dag's order; nodes of a category at
  // its limit wait. The node is running from now on.
  std::optional<dag::NodeId> take_ready(dag::SiteId site);
  // The node that take_ready would take.
  std::optional<dag::NodeId> peek_ready(dag::SiteId site);
  // Whether limits on jobs at once would let the node begin now.
  bool may_start(dag::NodeId node);
  std::size_t ready_at(dag::SiteId site) const { return ready_[site].size(); }

  // The first phase of an attempt of the node.
  jobs::Phase first_phase(dag::NodeId node) const;
  // Judges the end of a phase; changes only the node's books of retries.
  Verdict judge(dag::NodeId node, jobs::Phase phase, const jobs::Ending& ending, Gain gain);
  // The end of the job, while its POST script runs.
  const jobs::Ending* job_ending(dag::NodeId node) const;
  std::uint32_t retries_used(dag::NodeId node) const;
  IdleContinuations idle_continuations(dag::NodeId node) const;

  // The transitions. Each takes a running node, except where replay applies them to any.
  void finish(dag::NodeId node);                    // done; children may become ready
  std::vector<dag::NodeId> fail(dag::NodeId node);  // returns the nodes that became futile
  void requeue(dag::NodeId node);                   // running → ready, or waiting for a parent that is done again
  // Ends a node that waits or is ready, and those that wait for it: neither run nor needed. Returns them.
  std::vector<dag::NodeId> prune(dag::NodeId node);
  // The run's training jobs are not taken until it is released.
  void hold(dag::RunId run);
  void release(dag::RunId run);
  bool is_held(dag::NodeId node) const;
  std::vector<dag::NodeId> futile_below(dag::NodeId node) const;  // the futile descendants of a failed node
  // Failed → waiting or ready; returns the revived descendants.
  std::vector<dag::NodeId> reset(dag::NodeId node);
  // Done → waiting or ready. Its children that wait or are ready wait for it again; the others stay what they are.
  void redo(dag::NodeId node);
  // Recovery: the node is running already.
  void mark_running(dag::NodeId node);
  void restore_books(dag::NodeId node, std::uint32_t retries_used, IdleContinuations idle,
                     std::optional<jobs::Ending> job_ending);

 private:
  struct Books {
    std::uint32_t retries_used = 0;
    IdleContinuations idle;
    std::optional<jobs::Ending> job_ending;
  };
  using ReadyQueue = std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>;
  struct Category {
    std::uint32_t limit = 0;
    std::uint32_t running = 0;
    ReadyQueue parked;  // ready nodes that wait for the category
  };

  void set_state(dag::NodeId node, NodeState state);
  std::size_t& count(NodeState state);
  std::uint64_t rank(dag::NodeId node) const;
  void enqueue(dag::NodeId node);
  void leave_running(dag::NodeId node);
  void await_parents(dag::NodeId node);
  Category* category_of(dag::NodeId node);
  Verdict judge_failure(dag::NodeId node, const jobs::Ending& ending);
  Verdict judge_interruption(dag::NodeId node, jobs::Phase phase, const jobs::Ending& ending, Gain gain);

  const dag::Graph& graph_;
  std::vector<NodeState> state_;
  std::vector<std::uint32_t> pending_parents_;
  std::vector<ReadyQueue> ready_;
  std::unordered_map<std::string, Category> categories_;
  std::unordered_map<dag::RunId, std::vector<dag::NodeId>> held_;  // runs, and their nodes that would be ready
  std::unordered_map<dag::NodeId, Books> books_;
  Counts counts_;
};

// "exit code 3", "signal 11 (SIGSEGV)", "out of memory (peak 1.2 GB of 1 GB asked)": an ending in words.
std::string describe(const jobs::Ending& ending);

}  // namespace godwit::engine
