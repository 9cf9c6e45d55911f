// Makes happen what the Plan says must: journal first, then act. One thread; everything that blocks belongs to the
// executors. A turn of the loop is: requests → what the executors report → new work → commit → actions → wait.
//
// The engine may be killed at any instant. What it had committed it finds again in the journal; attempts that were in
// flight it looks up by their keys, so that none is run twice and none is forgotten.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/dag/graph.h"
#include "godwit/engine/attempt_builder.h"
#include "godwit/engine/checkpoint_store.h"
#include "godwit/engine/definition.h"
#include "godwit/engine/disk.h"
#include "godwit/engine/keeper.h"
#include "godwit/engine/metric_book.h"
#include "godwit/engine/plan.h"
#include "godwit/engine/recovery.h"
#include "godwit/engine/steering.h"
#include "godwit/jobs/executor.h"
#include "godwit/journal/journal.h"

namespace godwit::engine {

// How the engine reaches one site of the graph.
struct SitePort {
  jobs::JobExecutor* executor = nullptr;
  std::uint32_t slots = 1;  // jobs that can run there at once; more are handed over only while jobs are very short
};

// What somebody asks of a running engine.
struct Request {
  enum class What : std::uint8_t { stop, stop_now, retry, redo, accept, pause, promote, prune };
  What what = What::stop;
  std::vector<std::string> nodes;      // of retry, redo and accept
  std::vector<std::string> runs = {};  // of the last three: uuids
};

struct Snapshot {
  Counts counts;
  std::size_t jobs_in_flight = 0;
  bool stopping = false;
  std::string paused;  // why no new jobs start; empty where they do
};

// Watches a run, for the person at the terminal.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const journal::Event& event) = 0;  // after it is committed
  virtual void on_turn(const Snapshot& snapshot) = 0;
};

struct Surroundings {
  journal::Journal& journal;
  std::vector<SitePort> sites;  // indexed by dag::SiteId
  jobs::JobExecutor& scripts;   // runs PRE, POST and HOLD scripts
  Clock& clock;
  Observer& observer;
  // Hands what is waiting to the handler, again at the next call where the handler returned false (not recorded).
  std::function<void(const std::function<bool(const std::vector<Request>&)>&)> take_requests;
  Disk& disk;
  CheckpointStore& checkpoints;
  std::function<std::string(dag::NodeId)> placement_reason;  // of `placed` events
  std::function<std::string()> objection;                    // why no job may begin; "" where they may
};

struct EngineOptions {
  std::string file;                // what the Dag was made from
  Json sites = Json::array();      // as the journal's site events keep them
  bool once = false;               // one turn: report, submit what may be, leave the jobs running
  bool stop_only = false;          // submit nothing; stop what runs
  Json declared = Json::object();  // how the runs will be compared, as journal::Kind::declared keeps it
  Json source = nullptr;           // of the definition, as DefinitionHeader has it
  Json code = Json::array();
  // Define the Dag anew: it is an edited form of the one that the journal defined with this revision. Nodes that are
  // in both are the same; what runs of others is stopped.
  std::optional<std::uint32_t> edit_of = std::nullopt;
};

// paused: all that is left belongs to runs that are paused.
enum class RunEnd : std::uint8_t { succeeded, failed, stopped, once, paused };

class Engine {
 public:
  Engine(const dag::Graph& graph, Surroundings surroundings, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Runs to the end, or until stopped. Throws InputError where the journal is of another Dag and this is no edit of it.
  RunEnd run();

  // From a signal handler or another thread: the first call stops gently (SIGTERM, grace, checkpoint), the second at
  // once.
  void interrupt();

  const Plan& plan() const { return plan_; }

 private:
  struct Sink;
  struct InFlight {
    dag::NodeId node;
    std::uint32_t attempt;
    jobs::Phase phase;
    dag::SiteId site;
  };
  // An attempt of a node that the Dag no longer has. It is told to leave, and its end is recorded.
  struct Leaving {
    jobs::AttemptKey key;
    jobs::JobExecutor* executor;
    bool told = false;
  };
  // The working state of a node that is not at its end.
  struct Live {
    std::int64_t last_epoch = -1;      // the highest epoch that any attempt reported
    std::int64_t epoch_before = -1;    // … when the attempt began
    std::uint64_t metrics_offset = 0;  // lines of this attempt below it are journalled
    std::optional<std::uint64_t> memory_mb;
    bool resume_at_post = false;
    std::string native_id;
    bool told_of_others = false;  // its metrics named an epoch that is not its own
  };

  // Start and end.
  void start();
  void define(std::uint32_t revision);
  void recover(Recovered recovered);
  void recover_nodes(Recovered& recovered);
  void recover_open(const std::vector<Recovered::Open>& open);
  void recover_orphans(const std::vector<Recovered::Orphan>& orphans);
  void hand_over(std::map<jobs::JobExecutor*, std::vector<jobs::Attempt>> attempts,
                 const std::vector<jobs::AttemptKey>& displaced);
  void log_futile();
  void start_services();
  void record_end(RunEnd end);

  // Turns to the end; or one step without waiting for jobs, and the executors' part in it: they tell all that has
  // ended, and have handed over all that was submitted.
  RunEnd loop();
  RunEnd step();
  void settle();

  // The parts of a turn.
  void handle_requests();
  void handle(const Request& request);
  void poll_executors();
  void fill();
  void fill_site(dag::SiteId site);
  bool commit();
  void act();
  void wait();
  std::vector<jobs::JobExecutor*> executors() const;  // each once
  void watch_disk();
  void beat();

  // Attempts.
  void stop(bool now);
  void begin(dag::NodeId node);
  void submit_phase(dag::NodeId node, jobs::Phase phase);
  Amendments amendments(dag::NodeId node);
  std::string submitting_json(const InFlight& flight, const std::optional<jobs::Attempt>& attempt) const;
  void cancel_everything();
  void tell_leaving(bool now);
  void on_left(const jobs::StatusEvent& event);
  void judge_without_script(dag::NodeId node);
  bool has_script(dag::NodeId node, jobs::Phase phase) const;
  void on_status(const jobs::StatusEvent& event);
  void on_metrics(const jobs::AttemptKey& key, std::string_view line, std::uint64_t offset);
  void refuse_line(dag::NodeId node, const Json& line);
  void on_no_metrics(const jobs::AttemptKey& key, const std::string& why);
  void warn(dag::NodeId node, const std::string& message, Json about);
  void replay_metrics(const journal::Event& event, dag::NodeId node);
  void on_ending(const InFlight& flight, jobs::Ending ending);
  void follow(const InFlight& flight, const jobs::Ending& ending, const Verdict& verdict);
  void escalate_memory(dag::NodeId node, const jobs::Ending& ending);
  void blame_disk(jobs::Ending& ending) const;
  void check_epochs(const InFlight& flight, jobs::Ending& ending) const;
  void finish_node(dag::NodeId node);
  void fail_node(dag::NodeId node, const std::string& reason);
  void requeue(dag::NodeId node);
  void prune_run(const std::string& uuid);
  bool steer_what_waits();
  void reset_nodes(const Request& request);
  void pause(const std::string& otherwise);
  void hold_back(const std::string& objection);
  bool over() const;

  void log(journal::Kind kind, std::string json = {});
  void log(journal::Kind kind, dag::NodeId node, std::string json = {});
  void log(journal::Event event);
  jobs::JobExecutor& executor_of(const InFlight& flight);
  std::size_t capacity(dag::SiteId site) const;
  bool idle() const;

  const dag::Graph& graph_;
  Surroundings around_;
  EngineOptions options_;
  Plan plan_;
  MetricBook book_;
  Keeper keeper_;
  Steering steering_;
  std::unique_ptr<AttemptBuilder> builder_;
  std::string dag_uuid_;

  std::vector<std::uint32_t> attempts_;  // per node, the number of its latest
  std::unordered_map<dag::NodeId, Live> live_;
  std::unordered_map<std::string, InFlight> in_flight_;  // by node and phase
  std::map<std::string, Leaving> leaving_;               // by the text of their keys
  std::vector<std::size_t> in_flight_at_;                // jobs, per site
  std::vector<double> mean_wall_s_;                      // of recent jobs, per site

  // What the next commit will release.
  std::vector<journal::Event> pending_events_;
  std::map<jobs::JobExecutor*, std::vector<jobs::Attempt>> to_submit_;
  std::map<jobs::JobExecutor*, std::vector<jobs::AttemptKey>> to_send_away_, to_release_;
  std::size_t completed_in_turn_ = 0;

  std::atomic<int> interrupts_{0};
  int handled_interrupts_ = 0;
  enum class Cancel : std::uint8_t { nothing, gently, now };
  Cancel to_cancel_ = Cancel::nothing;  // with the next commit's actions, after what is to be submitted
  bool stopping_ = false;
  bool interrupted_ = false;
  bool ended_before_ = false;  // an earlier engine recorded the Dag's end
  bool all_paused_ = false;    // it stops because nothing else is left
  bool busy_ = false;          // the last turn changed something
  std::string paused_;
  Micros paused_since_ = 0;    // monotonic
  Micros pause_length_ = 0;    // at least; longer each time that it was no use
  Micros disk_checked_ = 0;    // monotonic
  Micros beaten_ = 0;          // monotonic
  Micros disk_seen_full_ = 0;  // UTC, the last time; 0: never
};

}  // namespace godwit::engine
