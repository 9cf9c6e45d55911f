// A world in memory for the engine's tests: a Dag made by hand, a journal that is a vector, an executor that plays
// what the test says, a clock that jumps. Deaths of the engine are made by throwing out of the journal.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "godwit/engine/engine.h"

namespace godwit::engine::test {

class FakeClock final : public Clock {
 public:
  Micros now() const override { return time_; }
  Micros monotonic() const override { return time_; }
  void sleep_until(Micros deadline) override { time_ = std::max(time_, deadline); }

 private:
  Micros time_ = 1'000'000;
};

struct Killed {};
struct Seized {};

class FakeJournal final : public journal::Journal {
 public:
  void append(journal::Event event) override { buffered_.push_back(std::move(event)); }
  bool commit(bool) override {
    if (full_commits > 0) {
      --full_commits;
      return false;
    }
    if (kill_at_commit > 0) {
      --kill_at_commit;
      if (kill_at_commit == 0) throw Killed{};
    }
    for (journal::Event& event : buffered_) {
      event.seq = static_cast<std::int64_t>(events.size()) + 1;
      events.push_back(std::move(event));
    }
    buffered_.clear();
    if (seized_at_commit > 0) seized_ = --seized_at_commit == 0;
    return true;
  }
  void beat() override {
    if (seized_) throw Seized{};
  }
  void replay(std::int64_t after, const std::function<void(const journal::Event&)>& fn) override {
    for (const journal::Event& event : events)
      if (event.seq > after) fn(event);
  }
  void forget_uncommitted() { buffered_.clear(); }

  // The kinds and nodes of a Dag's life, without its definition: "submitting a.1", "node_done a".
  std::vector<std::string> story(std::initializer_list<journal::Kind> kinds) const {
    std::vector<std::string> out;
    for (const journal::Event& event : events)
      if (std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end())
        out.push_back(std::string(to_string(event.kind)) + " " + event.node +
                      (event.attempt > 0 ? "." + std::to_string(event.attempt) : ""));
    return out;
  }

  std::vector<journal::Event> events;
  int full_commits = 0;      // so many commits find the disk full
  int kill_at_commit = 0;    // the engine dies in the n-th commit from now, before it becomes durable
  int seized_at_commit = 0;  // another becomes the writer right after the n-th commit from now

 private:
  std::vector<journal::Event> buffered_;
  bool seized_ = false;
};

// Ends attempts in the order they came, with what the script of the node and phase says (exit 0 where it says no more).
class FakeExecutor final : public jobs::JobExecutor {
 public:
  struct Play {
    jobs::Ending ending;
    std::vector<std::string> metrics;
  };

  std::string name() const override { return "fake"; }
  void submit(std::span<const jobs::Attempt> attempts) override {
    for (const jobs::Attempt& attempt : attempts) {
      const std::string key = attempt.key.file_name();
      if (std::find(accepted.begin(), accepted.end(), key) != accepted.end()) continue;
      accepted.push_back(key);
      specs[key] = *attempt.spec;
      running_.push_back(attempt.key);
      most_at_once = std::max(most_at_once, running_.size());
    }
  }
  std::vector<jobs::Found> find(std::span<const jobs::AttemptKey> keys) override {
    std::vector<jobs::Found> out;
    for (const jobs::AttemptKey& key : keys)
      out.push_back(std::find(accepted.begin(), accepted.end(), key.file_name()) != accepted.end()
                        ? jobs::Found::known
                        : jobs::Found::unknown);
    return out;
  }
  void attach(std::span<const jobs::Attempt> attempts) override {
    for (const jobs::Attempt& attempt : attempts) attached.push_back(attempt.key.file_name());
  }
  void cancel(std::span<const jobs::AttemptKey> keys, bool) override {
    for (const jobs::AttemptKey& key : keys) canceled.push_back(key.file_name());
  }
  void poll(jobs::StatusSink& sink) override;
  bool settled() const override { return true; }
  int wake_fd() const override { return -1; }
  void release(std::span<const jobs::AttemptKey> keys) override {
    for (const jobs::AttemptKey& key : keys) ended_.erase(key.file_name());
  }

  // What the n-th attempt of "node" or "node/post" plays.
  std::map<std::string, std::deque<Play>> plays;
  std::vector<std::string> accepted;  // every attempt that ever ran, in order
  std::vector<std::string> attached, canceled;
  std::map<std::string, jobs::JobSpec> specs;
  std::size_t most_at_once = 0;
  bool holds = false;  // jobs run until they are canceled

 private:
  std::vector<jobs::AttemptKey> running_;
  std::map<std::string, std::pair<jobs::AttemptKey, Play>> ended_;  // reported again until released
};

inline jobs::Ending exit_with(int code) {
  jobs::Ending ending;
  ending.outcome = code == 85 ? jobs::Outcome::checkpointed : jobs::Outcome::exited;
  ending.exit_code = code;
  return ending;
}

inline jobs::Ending ended_as(jobs::Outcome outcome) {
  jobs::Ending ending;
  ending.outcome = outcome;
  return ending;
}

inline void FakeExecutor::poll(jobs::StatusSink& sink) {
  std::vector<jobs::AttemptKey> still;
  for (const jobs::AttemptKey& key : running_) {
    const bool was_canceled = std::find(canceled.begin(), canceled.end(), key.file_name()) != canceled.end();
    if (holds && !was_canceled) {
      still.push_back(key);
      continue;
    }
    Play play{was_canceled ? ended_as(jobs::Outcome::evicted) : exit_with(0), {}};
    auto& queue = plays[key.phase == jobs::Phase::job ? key.node : key.node + "/" + std::string(to_string(key.phase))];
    if (!queue.empty() && !was_canceled) {
      play = queue.front();
      queue.pop_front();
    }
    ended_[key.file_name()] = {key, play};
  }
  running_ = still;
  for (const auto& [name, ended] : ended_) {
    std::uint64_t offset = 0;
    for (const std::string& line : ended.second.metrics) {
      sink.on_metrics(ended.first, line, offset);
      offset += line.size() + 1;
    }
    sink.on_status({ended.first, jobs::JobState::completed, 0, "", "here", ended.second.ending});
  }
}

class QuietObserver final : public Observer {
 public:
  void on_event(const journal::Event& event) override {
    if (on_event_do) on_event_do(event);
  }
  void on_turn(const Snapshot& snapshot) override {
    if (!snapshot.paused.empty()) saw_pause = true;
    if (on_turn_do) on_turn_do();
  }
  bool saw_pause = false;
  std::function<void()> on_turn_do;
  std::function<void(const journal::Event&)> on_event_do;
};

class FakeDisk final : public Disk {
 public:
  std::uint64_t free_bytes() override { return free; }
  std::optional<NoRoom> without_room() override {
    if (free >= (4u << 20) && !quota) return std::nullopt;
    return NoRoom{"/scratch", free, quota};
  }
  void leave_note(const std::string& text) override {
    note = text;
    if (!text.empty()) last_note = text;
  }

  std::uint64_t free = 1u << 30;
  bool quota = false;
  std::string note, last_note;
};

// Folders of checkpoints: each is what its text says.
class FakeCheckpoints final : public CheckpointStore {
 public:
  bool exists(const std::string& folder) override { return folders.contains(folder); }
  void measure(const std::string& folder, OnMeasured then) override {
    answers_.emplace_back([this, folder, then] {
      const auto found = folders.find(folder);
      then(found == folders.end() ? std::nullopt
                                  : std::optional(Content{found->second.size(), hash128(found->second)}));
    });
  }
  void remove(const std::string& folder, OnRemoved then) override {
    answers_.emplace_back([this, folder, then] {
      if (!lazy) folders.erase(folder);
      then(true);
    });
  }
  bool poll() override {
    const auto answers = std::exchange(answers_, {});
    for (const auto& answer : answers) answer();
    return !answers.empty();
  }
  int wake_fd() const override { return -1; }
  void forget() { answers_.clear(); }  // as when the process dies

  std::map<std::string, std::string> folders;
  bool lazy = false;  // what is to be removed stays

 private:
  std::vector<std::function<void()>> answers_;
};

struct World {
  World() {
    graph.name = "test";
    graph.directory = "/nowhere";
    graph.add_site("here");
    Diagnostics diagnostics;
    auto description = std::make_shared<submit::Description>(
        submit::Description::parse("executable = /bin/true\ntransfer_executable = false\nrequest_memory = 100\n",
                                   {"test.sub", 1, 1}, diagnostics));
    diagnostics.throw_if_errors();
    graph.add_template({"job", {description}});
  }

  dag::NodeId node(std::string_view name, const dag::Attributes& attributes = {},
                   dag::NodeKind kind = dag::NodeKind::job) {
    return graph.add_node(name, kind, 0, 0, graph.add_attributes(attributes));
  }
  dag::NodeId train(std::string_view name, std::string_view last_epoch, std::string_view first_epoch = "1") {
    const dag::Var vars[] = {{graph.strings().intern("first_epoch"), graph.strings().intern(first_epoch)},
                             {graph.strings().intern("last_epoch"), graph.strings().intern(last_epoch)}};
    return graph.add_node(name, dag::NodeKind::train, 0, 0, 0, graph.add_vars(dag::kNoVars, vars));
  }
  void chain(std::initializer_list<dag::NodeId> nodes) {
    for (auto it = nodes.begin(); std::next(it) != nodes.end(); ++it) graph.add_edge(*it, *std::next(it));
  }
  std::unique_ptr<Engine> engine(EngineOptions options = {}) {
    options.file = "test.yaml";
    return std::make_unique<Engine>(graph,
                                    Surroundings{journal,
                                                 {{&executor, slots}},
                                                 scripts,
                                                 clock,
                                                 observer,
                                                 [this](const auto& handle) {
                                                   if (!requests.empty() && handle(requests)) requests.clear();
                                                 },
                                                 disk,
                                                 checkpoints,
                                                 [](dag::NodeId) { return std::string("planned"); },
                                                 [this] { return objection; }},
                                    std::move(options));
  }
  RunEnd run(EngineOptions options = {}) { return engine(std::move(options))->run(); }

  dag::Graph graph;
  FakeJournal journal;
  FakeExecutor executor, scripts;
  FakeClock clock;
  QuietObserver observer;
  std::vector<Request> requests;
  FakeDisk disk;
  FakeCheckpoints checkpoints;
  std::string objection;
  std::uint32_t slots = 2;
};

}  // namespace godwit::engine::test
