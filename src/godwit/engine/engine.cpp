#include "godwit/engine/engine.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <tuple>

#include "godwit/base/ids.h"
#include "godwit/base/user.h"
#include "godwit/base/version.h"
#include "godwit/engine/own_epochs.h"
#include "godwit/journal/log_files.h"
#include "godwit/journal/metrics.h"

namespace godwit::engine {

using dag::NodeId;
using jobs::Ending;
using jobs::Outcome;
using jobs::Phase;
using journal::Kind;

namespace {

constexpr Micros kSecond = 1'000'000;
constexpr Micros kIdleWait = kSecond / 2;      // between looks at inbox, disk and executors that cannot wake us
constexpr std::size_t kNodesPerTurn = 20'000;  // so that a commit stays small and the inbox is looked at
constexpr double kShortJobSeconds = 0.1;       // jobs shorter than this are handed over ahead of a free slot
constexpr std::size_t kAhead = 64;             // … this many
constexpr Micros kGather = 2'000;              // while they are, news are gathered so long, for fewer commits
constexpr double kProgressSeconds = 60;        // an attempt that worked this long got somewhere
constexpr Micros kPauseLeast = kSecond;
constexpr Micros kPauseMost = 60 * kSecond;
constexpr std::uint64_t kEnoughFreeBytes = 4u << 20;
constexpr std::uint64_t kFullBytes = 1u << 20;
constexpr Micros kDiskCheck = 200'000;
constexpr Micros kBeat = 2 * kSecond;

std::string flight_key(std::string_view node, Phase phase) {
  std::string key(node);
  key += '\0';
  key += static_cast<char>('0' + static_cast<int>(phase));
  return key;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

struct Engine::Sink final : jobs::StatusSink {
  explicit Sink(Engine& owner) : engine(owner) {}
  void on_status(const jobs::StatusEvent& event) override { engine.on_status(event); }
  void on_metrics(const jobs::AttemptKey& key, std::string_view line, std::uint64_t offset) override {
    engine.on_metrics(key, line, offset);
  }
  void on_no_metrics(const jobs::AttemptKey& key, const std::string& why) override { engine.on_no_metrics(key, why); }
  Engine& engine;
};

Engine::Engine(const dag::Graph& graph, Surroundings surroundings, EngineOptions options)
    : graph_(graph),
      around_(std::move(surroundings)),
      options_(std::move(options)),
      plan_(graph),
      book_(graph),
      keeper_(graph, plan_, book_, around_.checkpoints,
              [this](Kind kind, NodeId node, std::string json) { log(kind, node, std::move(json)); }),
      steering_(graph, plan_, book_,
                [this](Kind kind, NodeId node, std::string json) {
                  node == dag::kNoNode ? log(kind, std::move(json)) : log(kind, node, std::move(json));
                }),
      attempts_(graph.size()),
      in_flight_at_(graph.sites().size()),
      mean_wall_s_(graph.sites().size(), kShortJobSeconds) {}

Engine::~Engine() = default;

void Engine::interrupt() {
  interrupts_.fetch_add(1);
}

RunEnd Engine::run() {
  start();
  handle_requests();
  if (ended_before_ && over() && idle()) {
    // Nothing is left to do or to record; a full disk is no reason to wait.
    act();
    return plan_.success() ? RunEnd::succeeded : RunEnd::failed;
  }
  const RunEnd end = options_.once && !stopping_ ? step() : loop();
  record_end(end);
  return end;
}

RunEnd Engine::loop() {
  while (true) {
    beat();
    handle_requests();
    poll_executors();
    watch_disk();
    fill();
    if (steer_what_waits()) continue;
    if (!commit()) {
      around_.clock.sleep_until(around_.clock.monotonic() + kIdleWait);
      continue;
    }
    act();
    around_.observer.on_turn({plan_.counts(), in_flight_.size(), stopping_, paused_});
    if (over()) return plan_.success() ? RunEnd::succeeded : RunEnd::failed;
    if (stopping_ && idle()) return all_paused_ ? RunEnd::paused : RunEnd::stopped;
    wait();
  }
}

void Engine::beat() {
  if (around_.clock.monotonic() - beaten_ < kBeat) return;
  beaten_ = around_.clock.monotonic();
  around_.journal.beat();
}

// Nothing is left to run, and nothing to tidy up.
bool Engine::over() const {
  return plan_.finished() && keeper_.idle();
}

RunEnd Engine::step() {
  settle();
  handle_requests();
  watch_disk();
  do {
    fill();
    if (completed_in_turn_ == 0 && plan_.counts().running == 0 && paused_.empty()) steering_.wind_up();
  } while (completed_in_turn_ > 0);
  settle();
  around_.observer.on_turn({plan_.counts(), in_flight_.size(), stopping_, paused_});
  if (plan_.finished()) return plan_.success() ? RunEnd::succeeded : RunEnd::failed;
  return stopping_ ? loop() : RunEnd::once;
}

void Engine::settle() {
  while (true) {
    while (!commit()) around_.clock.sleep_until(around_.clock.monotonic() + kIdleWait);
    act();
    // Asking makes an executor hear what its scheduler has to say first.
    for (jobs::JobExecutor* executor : executors()) std::ignore = executor->find({});
    poll_executors();
    const auto settled = [](const jobs::JobExecutor* executor) { return executor->settled(); };
    const std::vector<jobs::JobExecutor*> all = executors();
    if (pending_events_.empty() && to_submit_.empty() && keeper_.idle() && std::all_of(all.begin(), all.end(), settled))
      return;
    if (pending_events_.empty()) wait();
  }
}

std::vector<jobs::JobExecutor*> Engine::executors() const {
  std::vector<jobs::JobExecutor*> all{&around_.scripts};
  for (const SitePort& port : around_.sites)
    if (port.executor != nullptr && std::find(all.begin(), all.end(), port.executor) == all.end())
      all.push_back(port.executor);
  return all;
}

// --- start and end ----------------------------------------------------------------------------------------------

void Engine::start() {
  Recovered recovered =
      engine::recover(around_.journal, graph_, options_.file, [this](const journal::Event& event, NodeId node) {
        if (node != dag::kNoNode && !book_.empty()) replay_metrics(event, node);
        if (node != dag::kNoNode) keeper_.replay(event, node);
        steering_.replay(event, node);
      });
  const bool resumed = !recovered.dag_uuid.empty();
  dag_uuid_ = resumed ? recovered.dag_uuid : new_uuid();
  builder_ = std::make_unique<AttemptBuilder>(graph_, dag_uuid_);
  const bool edit = resumed && options_.edit_of.has_value();
  if (edit && *options_.edit_of != recovered.revision)
    throw InputError("the experiment was changed by somebody else meanwhile", "'godwit run' again shows how");
  if (recovered.edited && !edit && !options_.stop_only)
    throw InputError(fmt::format("{} is not what it was when this experiment was started: its runs, jobs or "
                                 "descriptions differ",
                                 options_.file),
                     "'godwit run' shows what differs and asks whether to go on with it so");
  if (!resumed || edit) define(edit ? recovered.revision + 1 : 0);
  if (options_.declared != recovered.declared) log(Kind::declared, dump(options_.declared));
  log(Kind::engine_started, dump({{"pid", getpid()},
                                  {"user", user_name()},
                                  {"host", host_name()},
                                  {"version", kVersion},
                                  {"resumed", resumed}}));
  ended_before_ = recovered.ended && !edit;
  recover(std::move(recovered));
  if (edit) log_futile();
  steering_.resume();
  if (!options_.stop_only) keeper_.resume();
  if (options_.stop_only) {
    stop(false);
  } else if (!plan_.finished()) {
    start_services();
  }
}

void Engine::replay_metrics(const journal::Event& event, NodeId node) {
  if (event.kind == Kind::epoch) book_.observe(node, Json::parse(event.json));
  if (event.kind == Kind::warning) book_.mark_told(Json::parse(event.json).value("metric", ""));
}

void Engine::define(std::uint32_t revision) {
  describe_definition(
      graph_,
      {dag_uuid_, options_.file, std::string(kVersion), options_.sites, options_.source, options_.code, revision},
      [this](Kind kind, std::string json) { log(kind, std::move(json)); });
}

void Engine::recover(Recovered recovered) {
  recover_nodes(recovered);
  recover_open(recovered.open);
  recover_orphans(recovered.orphans);
  for (const jobs::AttemptKey& key : recovered.recently_ended) {
    if (const auto node = graph_.find(key.node))
      to_release_[&executor_of({*node, key.attempt, key.phase, graph_.planned_site(*node)})].push_back(key);
    else
      for (jobs::JobExecutor* executor : executors()) to_release_[executor].push_back(key);
  }
}

void Engine::recover_nodes(Recovered& recovered) {
  attempts_ = std::move(recovered.attempts);
  for (NodeId node = 0; node < graph_.size(); ++node) {
    if (recovered.finals[node] == Recovered::Final::done) plan_.finish(node);
    if (recovered.finals[node] == Recovered::Final::failed) plan_.fail(node);
    if (recovered.finals[node] != Recovered::Final::pruned) continue;
    // An edit may have put others behind it.
    for (const NodeId pruned : plan_.prune(node))
      if (recovered.finals[pruned] != Recovered::Final::pruned)
        log(Kind::node_pruned, pruned, dump({{"by", "edit"}, {"reason", "a job before it was pruned"}}));
  }
  for (auto& [node, progress] : recovered.progress) {
    plan_.restore_books(node, progress.retries_used, progress.idle, progress.job_ending);
    live_[node] = {progress.last_epoch,     progress.epoch_before, progress.metrics_offset, progress.memory_mb,
                   progress.resume_at_post, progress.native_id,    progress.told_of_others};
  }
}

void Engine::recover_open(const std::vector<Recovered::Open>& all) {
  std::map<jobs::JobExecutor*, std::vector<jobs::Attempt>> to_attach;
  std::vector<jobs::AttemptKey> displaced;
  std::vector<Recovered::Orphan> strays;
  for (const Recovered::Open& open : all) {
    const auto site = std::find(graph_.sites().begin(), graph_.sites().end(), open.site);
    const bool is_job = open.phase == Phase::job || open.phase == Phase::service;
    if (!is_job && !has_script(open.node, open.phase)) {
      // An edit took the script away; the node goes on without.
      strays.push_back({builder_->key(open.node, open.attempt, open.phase), open.site});
      if (open.phase == Phase::post && plan_.state(open.node) == NodeState::ready)
        live_[open.node].resume_at_post = true;
      continue;
    }
    const bool moves = site == graph_.sites().end();
    const auto site_id =
        moves ? graph_.planned_site(open.node) : static_cast<dag::SiteId>(site - graph_.sites().begin());
    // An edit took its site away: it leaves there, and goes on elsewhere in another attempt.
    if (is_job && moves) displaced.push_back(builder_->key(open.node, open.attempt, open.phase));
    const InFlight flight{open.node, open.attempt, open.phase, site_id};
    jobs::Attempt attempt = is_job ? builder_->job(open.node, site_id, open.attempt, open.phase, amendments(open.node))
                                   : builder_->script(open.node, open.attempt, open.phase,
                                                      {plan_.retries_used(open.node), plan_.counts().failed,
                                                       plan_.job_ending(open.node), live_[open.node].native_id});
    if (open.phase != Phase::service && open.phase != Phase::hold && plan_.state(open.node) == NodeState::ready)
      plan_.mark_running(open.node);
    if (open.phase == Phase::job) ++in_flight_at_[site_id];
    in_flight_[flight_key(graph_.name_of(open.node), open.phase)] = flight;
    to_attach[&executor_of(flight)].push_back(std::move(attempt));
  }
  hand_over(std::move(to_attach), displaced);
  recover_orphans(strays);
}

// What an executor never heard of died before it was handed over: the same attempt is submitted now. Of the others, the
// displaced ones are told to leave.
void Engine::hand_over(std::map<jobs::JobExecutor*, std::vector<jobs::Attempt>> attempts,
                       const std::vector<jobs::AttemptKey>& displaced) {
  for (auto& [executor, list] : attempts) {
    std::vector<jobs::AttemptKey> keys;
    for (const jobs::Attempt& attempt : list) keys.push_back(attempt.key);
    const std::vector<jobs::Found> found = executor->find(keys);
    std::vector<jobs::Attempt> known;
    for (std::size_t i = 0; i < list.size(); ++i)
      (found[i] == jobs::Found::known ? known : to_submit_[executor]).push_back(std::move(list[i]));
    if (!known.empty()) executor->attach(known);
    for (const jobs::Attempt& attempt : known)
      if (std::find(displaced.begin(), displaced.end(), attempt.key) != displaced.end())
        to_send_away_[executor].push_back(attempt.key);
  }
}

// What runs of nodes that the Dag no longer has is told to leave; what was never handed over has left already.
void Engine::recover_orphans(const std::vector<Recovered::Orphan>& orphans) {
  for (const Recovered::Orphan& orphan : orphans) {
    const auto site = std::find(graph_.sites().begin(), graph_.sites().end(), orphan.site);
    jobs::JobExecutor* executor =
        site == graph_.sites().end() ? &around_.scripts : around_.sites[site - graph_.sites().begin()].executor;
    if (executor->find(std::array{orphan.key}).front() == jobs::Found::known) {
      executor->attach(std::array{jobs::Attempt{orphan.key, orphan.site, std::make_shared<jobs::JobSpec>()}});
      leaving_.emplace(orphan.key.text(), Leaving{orphan.key, executor});
    } else {
      Ending ending;
      ending.outcome = Outcome::canceled;
      ending.detail = "it had not begun when the experiment was edited";
      ending.started = ending.ended = around_.clock.now();
      log({0, ending.ended, Kind::attempt_ended, orphan.key.node, orphan.key.attempt,
           ending_json(orphan.key.phase, ending, "none")});
    }
  }
}

// An edit may have changed who waits for a failed node.
void Engine::log_futile() {
  for (NodeId node = 0; node < graph_.size(); ++node)
    if (plan_.state(node) == NodeState::failed)
      for (const NodeId futile : plan_.futile_below(node))
        log(Kind::node_futile, futile, dump({{"because", graph_.name_of(node)}}));
}

void Engine::start_services() {
  for (NodeId node = 0; node < graph_.size(); ++node)
    if (graph_.kind(node) == dag::NodeKind::service &&
        !in_flight_.contains(flight_key(graph_.name_of(node), Phase::service))) {
      ++attempts_[node];
      submit_phase(node, Phase::service);
    }
}

void Engine::record_end(RunEnd end) {
  if (plan_.finished() && end != RunEnd::once) {
    // Services live as long as the Dag.
    stop(false);
    while (!idle()) {
      if (interrupts_.load() > 1) stop(true);
      poll_executors();
      if (commit()) act();
      if (!idle()) wait();
    }
    const Counts& counts = plan_.counts();
    log(Kind::dag_ended, dump({{"success", plan_.success()},
                               {"done", counts.done},
                               {"failed", counts.failed},
                               {"futile", counts.futile},
                               {"pruned", counts.pruned}}));
  }
  const char* reason = end == RunEnd::once     ? "once"
                       : end == RunEnd::paused ? "paused"
                       : plan_.finished()      ? "finished"
                       : interrupted_          ? "interrupted"
                                               : "stopped";
  log(Kind::engine_stopped, dump({{"reason", reason}}));
  while (!commit()) {
    if (interrupts_.load() > 1) return;
    around_.clock.sleep_until(around_.clock.monotonic() + kIdleWait);
  }
  act();
}

// --- the parts of a turn ----------------------------------------------------------------------------------------

void Engine::handle_requests() {
  for (int interrupts = interrupts_.load(); handled_interrupts_ < std::min(interrupts, 2); ++handled_interrupts_) {
    interrupted_ = true;
    stop(handled_interrupts_ > 0);
  }
  around_.take_requests([this](const std::vector<Request>& requests) {
    if (!requests.empty()) around_.journal.beat();
    for (const Request& request : requests) handle(request);
    return commit();
  });
}

void Engine::handle(const Request& request) {
  static constexpr const char* kNames[] = {"stop", "stop_now", "retry", "redo", "accept", "pause", "promote", "prune"};
  Json json{{"what", kNames[static_cast<int>(request.what)]}, {"nodes", request.nodes}};
  if (!request.runs.empty()) json["runs"] = request.runs;
  log(Kind::request, dump(json));
  switch (request.what) {
    case Request::What::stop:
    case Request::What::stop_now:
      return stop(request.what == Request::What::stop_now);
    case Request::What::retry:
    case Request::What::redo:
    case Request::What::accept:
      return reset_nodes(request);
    case Request::What::pause:
      for (const std::string& run : request.runs) steering_.pause(run);
      return;
    case Request::What::promote:
      for (const std::string& run : request.runs) steering_.promote(run);
      return;
    case Request::What::prune:
      for (const std::string& run : request.runs) prune_run(run);
      return;
  }
}

// What runs of it leaves as for a stop; its checkpoint is kept.
void Engine::prune_run(const std::string& uuid) {
  const auto running = steering_.prune(uuid);
  if (!running) return;
  const auto flight = in_flight_.find(flight_key(graph_.name_of(*running), Phase::job));
  if (flight != in_flight_.end())
    to_send_away_[&executor_of(flight->second)].push_back(
        builder_->key(*running, flight->second.attempt, flight->second.phase));
}

// Where nothing runs and nothing could begin, what is left is paused: it is ended where nothing can promote it any
// more, else the engine stops until somebody does.
bool Engine::steer_what_waits() {
  const bool stuck =
      !stopping_ && paused_.empty() && completed_in_turn_ == 0 && plan_.counts().running == 0 && !plan_.finished();
  if (!stuck) return false;
  if (steering_.wind_up()) return true;
  all_paused_ = true;
  stop(false);
  return false;
}

void Engine::poll_executors() {
  Sink sink(*this);
  for (jobs::JobExecutor* executor : executors()) executor->poll(sink);
  keeper_.poll();
}

void Engine::watch_disk() {
  if (around_.clock.monotonic() - disk_checked_ >= kDiskCheck) {
    disk_checked_ = around_.clock.monotonic();
    if (around_.disk.free_bytes() < kFullBytes) disk_seen_full_ = around_.clock.now();
  }
  if (paused_.empty() || around_.clock.monotonic() - paused_since_ < pause_length_) return;
  paused_since_ = around_.clock.monotonic();
  if (around_.disk.without_room() || !around_.objection().empty()) return;
  paused_.clear();
  around_.disk.leave_note("");
  log(Kind::unpaused);
}

// There is no room somewhere. `otherwise`: what is said where it is none of the places that the engine knows; then
// nobody can tell when there is room again, so the time between attempts grows.
void Engine::pause(const std::string& otherwise) {
  paused_since_ = around_.clock.monotonic();
  disk_seen_full_ = around_.clock.now();
  if (!paused_.empty()) return;
  Json json = Json::object();
  if (const auto full = around_.disk.without_room()) {
    paused_ = full->text();
    json = {{"filesystem", full->filesystem}, {"free_bytes", full->free_bytes}, {"quota", full->quota}};
    pause_length_ = kPauseLeast;
  } else {
    paused_ = otherwise;
    pause_length_ = std::clamp(2 * pause_length_, kPauseLeast, kPauseMost);
  }
  json["reason"] = paused_;
  around_.disk.leave_note(paused_);
  log(Kind::paused, dump(json));
}

// Not the disk: what fails meanwhile is to blame itself.
void Engine::hold_back(const std::string& objection) {
  paused_since_ = around_.clock.monotonic();
  pause_length_ = kPauseLeast;
  paused_ = objection;
  around_.disk.leave_note(paused_);
  log(Kind::paused, dump({{"reason", paused_}}));
}

void Engine::fill() {
  completed_in_turn_ = 0;
  if (stopping_ || !paused_.empty()) return;
  if (plan_.counts().ready != 0)
    if (const std::string objection = around_.objection(); !objection.empty()) return hold_back(objection);
  for (dag::SiteId site = 0; site < graph_.site_count(); ++site) fill_site(site);
}

std::size_t Engine::capacity(dag::SiteId site) const {
  const bool ahead = mean_wall_s_[site] < kShortJobSeconds && !steering_.asynchronous();
  return around_.sites[site].slots + (ahead ? kAhead : 0);
}

void Engine::fill_site(dag::SiteId site) {
  while (in_flight_at_[site] < capacity(site) && completed_in_turn_ < kNodesPerTurn) {
    steering_.offer(site);
    const auto node = plan_.take_ready(site);
    if (!node) return;
    if (graph_.kind(*node) == dag::NodeKind::noop) {
      ++completed_in_turn_;
      finish_node(*node);
    } else {
      begin(*node);
    }
  }
}

bool Engine::commit() {
  if (!around_.journal.commit()) {
    pause("the disk is full");
    around_.observer.on_turn({plan_.counts(), in_flight_.size(), stopping_, paused_});
    if (interrupts_.load() > 1)
      throw Error("the disk is full; nothing that had finished is lost, 'godwit run' goes on");
    return false;
  }
  busy_ = !pending_events_.empty();
  for (const journal::Event& event : pending_events_) around_.observer.on_event(event);
  pending_events_.clear();
  return true;
}

void Engine::act() {
  // Frozen since the commit, this engine may have been taken over from: then the jobs are another's to submit.
  if (!to_submit_.empty()) around_.journal.beat();
  for (auto& [executor, attempts] : to_submit_)
    if (!attempts.empty()) executor->submit(attempts);
  to_submit_.clear();
  tell_leaving(false);
  for (auto& [executor, keys] : to_send_away_) executor->cancel(keys, false);
  to_send_away_.clear();
  if (to_cancel_ != Cancel::nothing) cancel_everything();
  for (auto& [executor, keys] : to_release_)
    if (!keys.empty()) executor->release(keys);
  to_release_.clear();
  keeper_.act();
}

void Engine::wait() {
  if (busy_ && completed_in_turn_ > 0) return;
  for (dag::SiteId site = 0; site < graph_.site_count(); ++site)
    if (in_flight_at_[site] > around_.sites[site].slots && mean_wall_s_[site] < kShortJobSeconds) {
      around_.clock.sleep_until(around_.clock.monotonic() + kGather);
      break;
    }
  std::vector<pollfd> descriptors;
  for (const jobs::JobExecutor* executor : executors())
    if (executor->wake_fd() >= 0) descriptors.push_back({executor->wake_fd(), POLLIN, 0});
  if (keeper_.wake_fd() >= 0) descriptors.push_back({keeper_.wake_fd(), POLLIN, 0});
  if (descriptors.empty())
    around_.clock.sleep_until(around_.clock.monotonic() + kIdleWait);
  else
    poll(descriptors.data(), descriptors.size(), static_cast<int>(kIdleWait / 1000));
}

bool Engine::idle() const {
  return in_flight_.empty() && to_submit_.empty() && leaving_.empty();
}

// --- attempts ---------------------------------------------------------------------------------------------------

jobs::JobExecutor& Engine::executor_of(const InFlight& flight) {
  const bool is_job = flight.phase == Phase::job || flight.phase == Phase::service;
  return is_job ? *around_.sites[flight.site].executor : around_.scripts;
}

void Engine::begin(NodeId node) {
  ++attempts_[node];
  const Live& live = live_[node];
  if (attempts_[node] == 1)
    log(Kind::placed, node,
        dump({{"site", graph_.sites()[graph_.planned_site(node)]}, {"reason", around_.placement_reason(node)}}));
  if (!live.resume_at_post) return submit_phase(node, plan_.first_phase(node));
  if (has_script(node, Phase::post)) return submit_phase(node, Phase::post);
  judge_without_script(node);
}

bool Engine::has_script(NodeId node, Phase phase) const {
  const dag::Attributes& attributes = graph_.attributes(node);
  switch (phase) {
    case Phase::pre:
      return attributes.pre.has_value();
    case Phase::post:
      return attributes.post.has_value();
    case Phase::hold:
      return attributes.hold.has_value();
    default:
      return false;
  }
}

// An edit took away the POST script that was to judge the node's job: the job's own end stands.
void Engine::judge_without_script(NodeId node) {
  live_[node].resume_at_post = false;
  const Ending* job = plan_.job_ending(node);
  if (job == nullptr) return submit_phase(node, plan_.first_phase(node));
  const Ending ending = *job;
  follow({node, attempts_[node], Phase::job, graph_.planned_site(node)}, ending,
         plan_.judge(node, Phase::job, ending, Gain::epoch));
}

void Engine::submit_phase(NodeId node, Phase phase) {
  const dag::SiteId site = graph_.planned_site(node);
  const InFlight flight{node, attempts_[node], phase, site};
  const bool is_job = phase == Phase::job || phase == Phase::service;
  Live& live = live_[node];
  live.resume_at_post = false;
  if (is_job) {
    live.metrics_offset = 0;
    live.epoch_before = live.last_epoch;
  }
  std::optional<jobs::Attempt> attempt;
  std::string fault;
  try {
    attempt = is_job ? builder_->job(node, site, flight.attempt, phase, amendments(node))
                     : builder_->script(
                           node, flight.attempt, phase,
                           {plan_.retries_used(node), plan_.counts().failed, plan_.job_ending(node), live.native_id});
  } catch (const InputError& error) {
    fault = error.what();
  }
  log(Kind::submitting, node, submitting_json(flight, attempt));
  in_flight_[flight_key(graph_.name_of(node), phase)] = flight;
  if (phase == Phase::job) ++in_flight_at_[site];
  if (attempt) {
    to_submit_[&executor_of(flight)].push_back(std::move(*attempt));
    return;
  }
  // Its description cannot become a job with these variables: the attempt ends before it began.
  Ending ending;
  ending.outcome = Outcome::not_started;
  ending.detail = fault;
  ending.started = ending.ended = around_.clock.now();
  on_ending(flight, ending);
}

// What the node's job begins with must be what the job before it left.
Amendments Engine::amendments(NodeId node) {
  Amendments out;
  out.memory_mb = live_[node].memory_mb;
  if (auto input = keeper_.input_of(node)) {
    out.input = std::move(input->folder);
    out.input_content = input->content;
  }
  return out;
}

// What viewers need to know of the attempt, streams only where they do not go to their usual place.
std::string Engine::submitting_json(const InFlight& flight, const std::optional<jobs::Attempt>& attempt) const {
  const bool is_job = flight.phase == Phase::job || flight.phase == Phase::service;
  Json json{{"phase", jobs::to_string(flight.phase)}, {"site", is_job ? graph_.sites()[flight.site] : ""}};
  if (!is_job || !attempt) return dump(json);
  const jobs::JobSpec& spec = *attempt->spec;
  if (spec.resources.memory_mb != 0) json["memory_mb"] = spec.resources.memory_mb;
  const dag::RunId run = graph_.run_of(flight.node);
  const auto name = [&](const char* key, std::string_view path, std::string_view suffix) {
    // Below the Dag's directory they are told relative to it: an experiment may be moved.
    if (const std::string below = graph_.directory + "/"; path.starts_with(below)) path.remove_prefix(below.size());
    const bool usual =
        run != dag::kNoRun &&
        path == journal::usual_log(graph_.runs()[run].uuid, graph_.name_of(flight.node), flight.attempt, suffix);
    if (!path.empty() && !usual) json[key] = path;
  };
  name("stdout", spec.stdout_path, "out");
  name("stderr", spec.stderr_path, "err");
  return dump(json);
}

void Engine::stop(bool now) {
  stopping_ = true;
  to_cancel_ = now ? Cancel::now : std::max(to_cancel_, Cancel::gently);
}

void Engine::cancel_everything() {
  const bool now = to_cancel_ == Cancel::now;
  to_cancel_ = Cancel::nothing;
  std::map<jobs::JobExecutor*, std::vector<jobs::AttemptKey>> keys;
  for (const auto& [key, flight] : in_flight_) {
    // A script is short and half of one is worse than waiting for it, unless there is no more patience.
    const bool is_script = flight.phase != Phase::job && flight.phase != Phase::service;
    if (is_script && !now) continue;
    keys[&executor_of(flight)].push_back(builder_->key(flight.node, flight.attempt, flight.phase));
  }
  for (auto& [executor, list] : keys) executor->cancel(list, now);
  if (now) tell_leaving(true);
}

void Engine::tell_leaving(bool now) {
  std::map<jobs::JobExecutor*, std::vector<jobs::AttemptKey>> keys;
  for (auto& [text, leaving] : leaving_) {
    if (leaving.told && !now) continue;
    leaving.told = true;
    keys[leaving.executor].push_back(leaving.key);
  }
  for (auto& [executor, list] : keys) executor->cancel(list, now);
}

void Engine::on_left(const jobs::StatusEvent& event) {
  const auto left = leaving_.find(event.key.text());
  if (left == leaving_.end() || !event.ending) return;
  log({0, around_.clock.now(), Kind::attempt_ended, event.key.node, event.key.attempt,
       ending_json(event.key.phase, *event.ending, "none")});
  to_release_[left->second.executor].push_back(event.key);
  leaving_.erase(left);
}

void Engine::on_status(const jobs::StatusEvent& event) {
  const auto found = in_flight_.find(flight_key(event.key.node, event.key.phase));
  if (found == in_flight_.end() || found->second.attempt != event.key.attempt) return on_left(event);
  const InFlight flight = found->second;
  if (event.ending) return on_ending(flight, *event.ending);
  if (event.state == jobs::JobState::queued || event.state == jobs::JobState::active) {
    if (!event.native_id.empty()) live_[flight.node].native_id = event.native_id;
    log(event.state == jobs::JobState::queued ? Kind::queued : Kind::active, flight.node,
        dump({{"phase", jobs::to_string(flight.phase)}, {"host", event.host}, {"native_id", event.native_id}}));
  } else if (event.state == jobs::JobState::held && graph_.attributes(flight.node).hold &&
             !in_flight_.contains(flight_key(event.key.node, Phase::hold))) {
    submit_phase(flight.node, Phase::hold);
  }
}

void Engine::on_metrics(const jobs::AttemptKey& key, std::string_view line, std::uint64_t offset) {
  const auto found = in_flight_.find(flight_key(key.node, key.phase));
  if (found == in_flight_.end() || found->second.attempt != key.attempt) return;
  const NodeId node = found->second.node;
  Live& live = live_[node];
  if (offset < live.metrics_offset) return;
  std::optional<std::string> event = journal::metrics_event(line, offset);
  if (!event) return;
  const Json json = Json::parse(*event);
  live.metrics_offset = offset + 1;
  if (!OwnEpochs(graph_, node).have(json)) return refuse_line(node, json);
  if (const auto epoch = journal::named_epoch(json)) live.last_epoch = std::max(live.last_epoch, std::int64_t{*epoch});
  book_.observe(node, json);
  log(Kind::epoch, node, std::move(*event));
}

// A line of an epoch that its job does not train would count for another job's; it is left out, which is said once.
void Engine::refuse_line(NodeId node, const Json& line) {
  if (std::exchange(live_[node].told_of_others, true)) return;
  warn(node,
       fmt::format("its metrics tell of epoch {}, which it does not train: such lines are left out; its own are {}, "
                   "$GODWIT_FIRST_EPOCH to $GODWIT_LAST_EPOCH",
                   line.at("epoch").dump(), OwnEpochs(graph_, node).text()),
       {{"about", "foreign_epochs"}, {"epoch", journal::named_epoch(line).value_or(0)}});
}

void Engine::on_no_metrics(const jobs::AttemptKey& key, const std::string& why) {
  const auto found = in_flight_.find(flight_key(key.node, key.phase));
  if (found == in_flight_.end() || found->second.attempt != key.attempt) return;
  warn(found->second.node, fmt::format("it has no metrics: {}", why), {{"about", "no_metrics"}});
}

void Engine::warn(NodeId node, const std::string& message, Json about) {
  about["message"] = fmt::format("{}: {}", graph_.name_of(node), message);
  log(Kind::warning, node, dump(about));
}

// A job that failed in a time in which the disk was full is not to blame, even where there is room again by its end.
void Engine::blame_disk(Ending& ending) const {
  const bool may_be = (ending.outcome == Outcome::exited && ending.exit_code != 0) ||
                      ending.outcome == Outcome::missing_output || ending.outcome == Outcome::transfer_failed;
  // We look now and then only, so it may have been full for a while after we last saw it.
  if (!may_be || disk_seen_full_ == 0 || disk_seen_full_ + kSecond < ending.started) return;
  ending.detail = describe(ending) + "; the disk was full meanwhile";
  ending.outcome = Outcome::disk_full;
}

// Exit 0 is not enough for a job that reports its epochs: it must have reported the last one.
void Engine::check_epochs(const InFlight& flight, Ending& ending) const {
  if (flight.phase != Phase::job || !ending.success() || graph_.kind(flight.node) != dag::NodeKind::train) return;
  const auto found = live_.find(flight.node);
  const OwnEpochs own(graph_, flight.node);
  if (found == live_.end() || own.last == 0) return;
  const Live& live = found->second;
  const bool reports = live.last_epoch >= 0 || live.told_of_others;
  if (!reports || live.last_epoch >= own.last) return;
  ending.outcome = Outcome::unfinished;
  ending.detail = live.last_epoch < 0 ? fmt::format("it reported other epochs than its own, {}", own.text())
                                      : fmt::format("it reported epoch {} of {}", live.last_epoch, own.last);
}

void Engine::on_ending(const InFlight& flight, Ending ending) {
  in_flight_.erase(flight_key(graph_.name_of(flight.node), flight.phase));
  if (flight.phase == Phase::job) {
    --in_flight_at_[flight.site];
    mean_wall_s_[flight.site] = 0.8 * mean_wall_s_[flight.site] + 0.2 * ending.use.wall_s;
  }
  check_epochs(flight, ending);
  blame_disk(ending);
  // What is canceled because everything stops goes on at the next run.
  if (stopping_ && ending.outcome == Outcome::canceled) ending.outcome = Outcome::evicted;
  to_release_[&executor_of(flight)].push_back(builder_->key(flight.node, flight.attempt, flight.phase));
  if (ending.outcome == Outcome::disk_full)
    pause(ending.detail.empty() ? "the disk is full" : ending.detail);
  else if (ending.success())
    pause_length_ = 0;

  // Hold scripts and services decide nothing.
  if (flight.phase == Phase::hold || flight.phase == Phase::service) {
    log(Kind::attempt_ended, flight.node, ending_json(flight.phase, ending, "none"));
    return;
  }
  const Live& live = live_[flight.node];
  const bool worked = ending.use.wall_s >= kProgressSeconds || stopping_;
  const Gain gain = live.last_epoch > live.epoch_before ? Gain::epoch : worked ? Gain::time : Gain::nothing;
  const Verdict verdict = plan_.judge(flight.node, flight.phase, ending, gain);
  const char* retry = verdict.next == Next::retry                                         ? "retried"
                      : verdict.next == Next::resume || verdict.next == Next::resume_post ? "continued"
                                                                                          : "none";
  log(Kind::attempt_ended, flight.node,
      ending_json(flight.phase, ending, retry, plan_.idle_continuations(flight.node)));
  follow(flight, ending, verdict);
}

void Engine::follow(const InFlight& flight, const Ending& ending, const Verdict& verdict) {
  switch (verdict.next) {
    case Next::run_job:
      // In a stop the node goes back; its PRE script runs again with it.
      if (stopping_) return requeue(flight.node);
      return submit_phase(flight.node, Phase::job);
    case Next::run_post:
      return submit_phase(flight.node, Phase::post);
    case Next::done:
      return finish_node(flight.node);
    case Next::failed:
      return fail_node(flight.node, verdict.reason);
    case Next::retry:
      escalate_memory(flight.node, ending);
      return requeue(flight.node);
    case Next::resume_post:
      live_[flight.node].resume_at_post = true;
      return requeue(flight.node);
    case Next::resume:
      return requeue(flight.node);
  }
}

void Engine::escalate_memory(NodeId node, const Ending& ending) {
  const Ending* job = plan_.job_ending(node);
  const bool ran_out =
      ending.outcome == Outcome::out_of_memory || (job != nullptr && job->outcome == Outcome::out_of_memory);
  const auto& escalation = graph_.attributes(node).memory_escalation;
  if (!ran_out || !escalation) return;
  Live& live = live_[node];
  const std::uint64_t asked = live.memory_mb.value_or(
      builder_->job(node, graph_.planned_site(node), attempts_[node], Phase::job).spec->resources.memory_mb);
  const std::uint64_t grown =
      std::min(static_cast<std::uint64_t>(static_cast<double>(asked) * escalation->factor), escalation->limit_mb);
  if (grown <= asked) return;
  live.memory_mb = grown;
  log(Kind::escalated, node, dump({{"request", "memory"}, {"from_mb", asked}, {"to_mb", grown}}));
}

void Engine::finish_node(NodeId node) {
  for (const MetricBook::Unknown& unknown : book_.unknown_after(node))
    warn(node, unknown.message, {{"metric", unknown.metric}});
  log(Kind::node_done, node);
  live_.erase(node);
  plan_.finish(node);
  steering_.on_done(node);
  keeper_.on_end(node);
}

void Engine::requeue(NodeId node) {
  plan_.requeue(node);
  steering_.on_requeued(node);
}

void Engine::fail_node(NodeId node, const std::string& reason) {
  log(Kind::node_failed, node, dump({{"reason", reason}}));
  live_.erase(node);
  for (const NodeId futile : plan_.fail(node))
    log(Kind::node_futile, futile, dump({{"because", graph_.name_of(node)}}));
}

// Those that failed first: which of their descendants have hope again depends on the other nodes' failures alone.
void Engine::reset_nodes(const Request& request) {
  const bool accept = request.what == Request::What::accept;
  for (const std::string& name : request.nodes) {
    const auto node = graph_.find(name);
    if (!node || plan_.state(*node) != NodeState::failed) continue;
    log(Kind::node_reset, *node, dump({{"by", accept ? "accept" : "retry"}}));
    for (const NodeId revived : plan_.reset(*node)) log(Kind::node_reset, revived, dump({{"by", "retry"}}));
    if (accept) keeper_.accept_input_of(*node);
  }
  if (request.what != Request::What::redo) return;
  for (const std::string& name : request.nodes) {
    const auto node = graph_.find(name);
    if (!node || plan_.state(*node) != NodeState::done) continue;
    log(Kind::node_reset, *node, dump({{"by", "redo"}}));
    plan_.redo(*node);
    keeper_.forget(*node);
    steering_.on_redo(*node);
  }
}

void Engine::log(Kind kind, std::string json) {
  log({0, around_.clock.now(), kind, "", 0, std::move(json)});
}

void Engine::log(Kind kind, NodeId node, std::string json) {
  log({0, around_.clock.now(), kind, std::string(graph_.name_of(node)), attempts_[node], std::move(json)});
}

void Engine::log(journal::Event event) {
  pending_events_.push_back(std::move(event));
  around_.journal.append(pending_events_.back());
}

}  // namespace godwit::engine
