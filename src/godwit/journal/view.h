// What viewers know: the state that a journal's events come to. Replayed incrementally, made for a million nodes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "godwit/base/content.h"
#include "godwit/base/interner.h"
#include "godwit/base/json.h"
#include "godwit/journal/definition.h"
#include "godwit/journal/fields.h"
#include "godwit/journal/journal.h"

namespace godwit::journal {

using RunIndex = std::uint32_t;
using SiteIndex = std::uint32_t;
using AttemptIndex = std::uint32_t;  // into View::attempts()
using TextId = Interner::Id;         // View::text() gives the text; 0 is ""

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// In the order in which a node passes them.
enum class NodeState : std::uint8_t {
  waiting,  // for its parents
  ready,    // parents are done; not with an executor
  queued,   // with an executor, not running
  active,
  done,
  failed,
  futile,  // an ancestor failed
  pruned,  // its run was ended before it: neither run nor needed
};
inline constexpr std::size_t kNodeStates = 8;

std::string_view to_string(NodeState state);

// How many nodes are in each state. Service nodes, which live beside the others and never end by themselves, are not
// among them.
struct Counts {
  std::array<std::uint64_t, kNodeStates> of{};
  std::uint64_t operator[](NodeState state) const { return of[static_cast<std::size_t>(state)]; }
  std::uint64_t total() const;
};

// One phase (pre, job, post …) of one attempt of a node.
struct Attempt {
  NodeIndex node = 0;
  std::uint32_t number = 0;
  AttemptIndex previous = kNone;  // of the same node
  SiteIndex site = kNone;
  TextId phase = 0;    // jobs::Phase
  TextId outcome = 0;  // jobs::Outcome; 0: it has not ended
  TextId retry = 0;    // "continued", "retried", "none"
  TextId host = 0, native_id = 0, detail = 0;
  TextId stdout_path = 0, stderr_path = 0;  // 0: the journal does not say
  int exit_code = 0;
  int signal = 0;
  Micros submitted = 0, started = 0, ended = 0;  // UTC; 0: not yet
  double wall_s = 0, cpu_s = 0;
  std::uint64_t peak_memory_kb = 0;
  std::uint64_t asked_memory_mb = 0;  // 0: not said

  bool has_ended() const { return outcome != 0; }
};

struct Node {
  TextId kind = 0;  // dag::NodeKind
  RunIndex run = kNone;
  SiteIndex site = kNone;  // where it is placed, else planned
  std::uint32_t first_epoch = 0, last_epoch = 0;
  NodeState state = NodeState::waiting;
  std::uint32_t waits_for = 0;  // parents that are not done
  AttemptIndex last_attempt = kNone;
  std::uint32_t attempts = 0;        // the number of its latest
  std::uint32_t reported_epoch = 0;  // the highest that its metrics told of
  NodeIndex because = kNone;         // of a futile node: the ancestor that failed
  TextId reason = 0;                 // of a failed node
  TextId placement = 0;              // why it is at its site
  Micros changed = 0;                // when it came into its state; 0: from the start
  bool orphaned = false;             // the experiment has it no more; counts nowhere
  std::uint32_t epochs() const { return last_epoch == 0 ? 0 : last_epoch - first_epoch + 1; }
};

// A run that waits, or that was ended, by a rule or by hand.
struct Steered {
  bool pruned = false;  // else it is paused
  std::string by;       // "hand", "early_stop", "asha"
  std::string reason;
  std::uint32_t epoch = 0;            // that it has reached; 0: not told
  std::optional<std::uint32_t> rung;  // of successive halving
  Micros time = 0;
};

// "paused", "stopped early", "pruned".
std::string_view word_of(const Steered& steered);

// A training run.
struct Run {
  std::uint32_t number = 0;
  std::string uuid;
  std::uint32_t seed = 0;
  std::uint32_t replicate = 0;
  bool baseline = false;
  std::string pair;
  std::vector<std::pair<std::string, std::string>> values;
  std::uint32_t epochs = 0;
  std::optional<Steered> steered;
  bool paused_by_hand = false;
  bool orphaned = false;               // the experiment has it no more
  std::vector<NodeIndex> nodes;        // of every kind, in the order of their definition
  std::vector<std::uint32_t> metrics;  // indices into View::metrics(), in the order in which they came
};

struct Site {
  std::string name;
  Json definition;  // of its `site` event; null where it was only named by a node
  Counts counts;
};

// One line that a job appended to its metrics file.
struct MetricsLine {
  NodeIndex node = 0;
  std::uint32_t attempt = 0;
  std::uint32_t epoch = 0;  // 0: it names none
  Micros time = 0;          // when the engine read it
  std::string json;
};

// What a training job left.
struct CheckpointRecord {
  NodeIndex node = 0;
  std::uint32_t epoch = 0;  // the last that it holds
  Content content;          // as it was when the job was done
  Micros dropped = 0;       // when it was deleted; 0: it is there
};

struct DagInfo {
  std::string uuid, name, file, version, directory, digest;
  std::uint32_t revision = 0;  // how often it was edited
};

struct Message {
  Micros time = 0;
  std::string text;
  NodeIndex node = kNone;  // that it is about
  std::string about = {};  // what like warnings have in common; empty: nothing
  std::uint32_t epoch = 0;
};

// How the runs will be compared, as it was said at one time.
struct Declaration {
  Micros time = 0;
  std::size_t lines_before = 0;  // of metrics that were known then
  Json json;                     // of its `declared` event; an empty object: nothing any more
};

// The engine as the journal knows it; whether it is alive says engine_state().
struct EngineRecord {
  std::int64_t pid = 0;
  std::string user, host, version;     // user: whose the experiment is; "": an older version did not say
  Micros started = 0;                  // the last time; 0: never
  std::optional<std::string> stopped;  // the reason, where it ended orderly: "finished", "interrupted" …
  Micros last_event = 0;
  Micros earlier_sessions = 0;  // their lengths together
  std::optional<Message> paused;
};

struct DagEnd {
  bool success = false;
  Micros time = 0;
};

// Work done and to do. A node counts as many units as it has epochs, others count one, service nodes none.
struct Progress {
  std::uint64_t done = 0, total = 0;
  // Nothing where too little is known, or nothing runs.
  std::optional<double> remaining_s;
  double fraction() const { return total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total); }
};

class View {
 public:
  View();

  void apply(const Event& event);
  // Applies what is new in the journal; returns how many events that were.
  std::size_t update(Reader& reader);
  std::int64_t last_seq() const { return last_seq_; }

  const DagInfo& dag() const { return dag_; }
  const EngineRecord& engine() const { return engine_; }
  const std::optional<DagEnd>& ended() const { return ended_; }
  const std::vector<Message>& warnings() const { return warnings_; }

  const std::vector<Declaration>& declarations() const { return declarations_; }  // oldest first
  const Json& source() const { return source_; }                                  // null: not said
  const std::vector<Json>& code() const { return code_; }                         // `code` events of the definition

  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Run> runs() const { return runs_; }
  std::span<const Site> sites() const { return sites_; }
  std::span<const Attempt> attempts() const { return attempts_; }
  std::span<const MetricsLine> metrics() const { return metrics_; }
  std::span<const CheckpointRecord> checkpoints() const { return checkpoints_; }  // in the order of their recording
  const CheckpointRecord* checkpoint_of(NodeIndex node) const;                    // nullptr where none is recorded
  const Counts& counts() const { return counts_; }
  std::string_view text(TextId id) const { return texts_.view(id); }
  std::string_view name_of(NodeIndex node) const { return names_.view(node); }
  std::string_view site_name(SiteIndex site) const { return site == kNone ? std::string_view() : sites_[site].name; }

  std::optional<NodeIndex> find_node(std::string_view name) const;
  // By uuid, or by number as "0" or "run0".
  std::optional<RunIndex> find_run(std::string_view name) const;
  std::optional<RunIndex> run_with_uuid(const std::string& uuid) const;

  std::span<const NodeIndex> children(NodeIndex node) const;
  std::span<const NodeIndex> parents(NodeIndex node) const;
  // A node's attempts, oldest first.
  std::vector<AttemptIndex> attempts_of(NodeIndex node) const;

  Counts counts_of(const Run& run) const;
  // The sites of a run's training jobs, in the order of their epochs.
  std::vector<SiteIndex> site_path(const Run& run) const;
  // Epochs trained: of training nodes that are done, and those that running ones told of.
  std::uint32_t epochs_done(const Run& run) const;
  // `running_now`: an engine is at work, so time goes on since its last event.
  Progress progress(Micros now, bool running_now) const;

 private:
  struct Adjacency {
    std::vector<std::uint32_t> begin;
    std::vector<NodeIndex> to;
    // Of every node's neighbours: `from` and `towards` are the ends of an edge to look from and at.
    void build(std::size_t nodes, std::span<const EdgeDefinition> edges, NodeIndex EdgeDefinition::* from,
               NodeIndex EdgeDefinition::* towards);
    std::span<const NodeIndex> of(NodeIndex node) const {
      return std::span(to).subspan(begin[node], begin[node + 1] - begin[node]);
    }
  };

  TextId intern(const Fields& fields, std::string_view key);
  SiteIndex site_named(std::string_view name);
  NodeIndex node_of(const Event& event);
  void apply_definition(const Event& event, const Json& json);
  void begin_definition(const Json& json);
  void finish_definition();
  void apply_to_engine(const Event& event, const Fields& fields);
  void apply_to_node(const Event& event, const Fields& fields, NodeIndex node);
  void define_run(const Json& json);
  void define_nodes(const std::string& json);
  void define_node(const NodeDefinition& definition);
  void count_all();
  Attempt& attempt_of(NodeIndex node, const Event& event, const Fields& fields);
  void submit(NodeIndex node, const Event& event, const Fields& fields);
  void enqueue(NodeIndex node, const Event& event, const Fields& fields);
  void activate(NodeIndex node, const Event& event, const Fields& fields);
  void end_attempt(NodeIndex node, const Event& event, const Fields& fields);
  void end_node(NodeIndex node, const Event& event, const Fields& fields);
  void steer(const Event& event, const Fields& fields);
  void record_checkpoint(NodeIndex node, const Event& event, const Fields& fields);
  void add_metrics(NodeIndex node, const Event& event, const Fields& fields);
  void set_state(NodeIndex node, NodeState state, Micros time);
  void move(NodeIndex node, SiteIndex site);
  void count(const Node& node, NodeState state, int change);
  // A hold script runs beside its node's job, which stays what it is.
  bool moves_node(const Attempt& attempt) const;

  std::int64_t last_seq_ = 0;
  DagInfo dag_;
  EngineRecord engine_;
  std::optional<DagEnd> ended_;
  std::vector<Message> warnings_;
  std::vector<Declaration> declarations_;
  std::vector<Node> nodes_;
  std::vector<Run> runs_;
  std::vector<Site> sites_;
  std::vector<Attempt> attempts_;
  std::vector<MetricsLine> metrics_;
  std::vector<CheckpointRecord> checkpoints_;
  std::unordered_map<NodeIndex, std::size_t> checkpoint_by_node_;
  Counts counts_;
  Interner names_;  // of nodes: ids are their indices
  Interner texts_;
  TextId service_kind_, hold_phase_;
  std::unordered_map<std::string, RunIndex> run_by_uuid_;
  std::unordered_map<std::string, SiteIndex> site_by_name_;
  std::string last_name_;  // of the node that the last event was about: the next is often about it too
  NodeIndex last_node_ = kNone;
  std::vector<EdgeDefinition> edges_;
  std::vector<NodeIndex> defined_;  // the latest definition's ids of nodes → their indices
  std::uint64_t to_define_ = 0;     // nodes of it
  bool redefining_ = false;         // it is not the first one, and not whole yet
  Json source_;
  std::vector<Json> code_;
  // Built when first asked for after a chunk of the definition; empty until then.
  mutable Adjacency children_, parents_;
};

}  // namespace godwit::journal
