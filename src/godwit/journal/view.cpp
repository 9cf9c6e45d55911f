#include "godwit/journal/view.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <type_traits>

namespace godwit::journal {
namespace {

// The member's value, or the fallback where it is absent or of another type: a journal of a later version must not
// stop a viewer.
std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

template <typename Number>
Number number_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  const bool fits =
      found != json.end() && (std::is_integral_v<Number> ? found->is_number_integer() : found->is_number());
  return fits ? found->get<Number>() : Number{};
}

bool flag_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

Json parse_object(const std::string& text) {
  if (text.size() <= 2) return Json::object();  // "" and "{}"
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

// A run's value as the definition wrote it: text, whatever JSON type an engine gave it.
std::string as_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::uint64_t units_of(const Node& node) {
  return std::max<std::uint64_t>(1, node.epochs());
}

// Epochs of a node that is not done, by what its metrics told of.
std::uint32_t epochs_reported(const Node& node) {
  const bool under_way =
      node.state == NodeState::queued || node.state == NodeState::active || node.state == NodeState::ready;
  if (!under_way || node.epochs() == 0 || node.reported_epoch < node.first_epoch) return 0;
  return std::min(node.reported_epoch, node.last_epoch) - node.first_epoch + 1;
}

}  // namespace

std::string_view to_string(NodeState state) {
  constexpr std::array<std::string_view, kNodeStates> kNames = {"waiting", "ready",  "queued", "active",
                                                                "done",    "failed", "futile", "pruned"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view word_of(const Steered& steered) {
  if (!steered.pruned) return "paused";
  return steered.by == "early_stop" ? "stopped early" : "pruned";
}

std::uint64_t Counts::total() const {
  return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
}

View::View() {
  texts_.intern("");
  service_kind_ = texts_.intern("service");
  hold_phase_ = texts_.intern("hold");
}

void View::apply(const Event& event) {
  last_seq_ = event.seq;
  if (event.kind == Kind::nodes)
    define_nodes(event.json);
  else if (event.kind < Kind::engine_started)
    apply_definition(event, parse_object(event.json));
  else if (event.kind < Kind::placed || event.kind == Kind::dag_ended)
    apply_to_engine(event, Fields(event.json));
  else if (const NodeIndex node = node_of(event); node != kNone)
    apply_to_node(event, Fields(event.json), node);
  engine_.last_event = std::max(engine_.last_event, event.time);
}

NodeIndex View::node_of(const Event& event) {
  if (last_node_ == kNone || event.node != last_name_) {
    last_node_ = find_node(event.node).value_or(kNone);
    last_name_ = event.node;
  }
  return last_node_;
}

std::size_t View::update(Reader& reader) {
  std::size_t events = 0;
  reader.replay(last_seq_, [&](const Event& event) {
    apply(event);
    ++events;
  });
  return events;
}

// --- the definition ---------------------------------------------------------------------------------------------

void View::apply_definition(const Event& event, const Json& json) {
  switch (event.kind) {
    case Kind::dag:
      begin_definition(json);
      break;
    case Kind::source:
      source_ = json;
      break;
    case Kind::code:
      code_.push_back(json);
      break;
    case Kind::site:
      sites_[site_named(text_in(json, "name"))].definition = json;
      break;
    case Kind::run:
      define_run(json);
      break;
    case Kind::declared:
      declarations_.push_back({event.time, metrics_.size(), json});
      break;
    default:
      break;
  }
}

void View::begin_definition(const Json& json) {
  dag_ = {text_in(json, "uuid"),
          text_in(json, "name"),
          text_in(json, "file"),
          text_in(json, "version"),
          text_in(json, "directory"),
          text_in(json, "digest"),
          number_in<std::uint32_t>(json, "revision")};
  to_define_ = number_in<std::uint64_t>(json, "nodes");
  defined_.clear();
  edges_.clear();
  source_ = nullptr;
  code_.clear();
  ended_.reset();
  redefining_ = !nodes_.empty();
  for (Node& node : nodes_) node.orphaned = true;
  for (Run& run : runs_) run.orphaned = true;
}

// States follow from what the nodes did and from the edges that there are now; what is futile the engine says anew.
void View::finish_definition() {
  redefining_ = false;
  for (Node& node : nodes_) node.waits_for = 0;
  for (const EdgeDefinition& edge : edges_)
    if (nodes_[edge.parent].state != NodeState::done) ++nodes_[edge.child].waits_for;
  for (Node& node : nodes_) {
    if (node.state != NodeState::waiting && node.state != NodeState::ready && node.state != NodeState::futile) continue;
    node.because = kNone;
    node.state = node.waits_for == 0 ? NodeState::ready : NodeState::waiting;
  }
  count_all();
}

void View::count_all() {
  counts_ = {};
  for (Site& site : sites_) site.counts = {};
  for (const Node& node : nodes_) count(node, node.state, 1);
}

void View::define_run(const Json& json) {
  Run run;
  run.number = number_in<std::uint32_t>(json, "number");
  run.uuid = text_in(json, "run_uuid");
  run.seed = number_in<std::uint32_t>(json, "seed");
  run.replicate = number_in<std::uint32_t>(json, "replicate");
  run.baseline = flag_in(json, "baseline");
  run.pair = text_in(json, "pair");
  run.epochs = number_in<std::uint32_t>(json, "epochs");
  if (const auto values = json.find("values"); values != json.end() && values->is_object())
    for (const auto& [key, value] : values->items()) run.values.emplace_back(key, as_text(value));
  const auto [known, fresh] = run_by_uuid_.emplace(run.uuid, static_cast<RunIndex>(runs_.size()));
  if (fresh) {
    runs_.push_back(std::move(run));
  } else {
    run.metrics = std::move(runs_[known->second].metrics);
    run.steered = std::move(runs_[known->second].steered);
    run.paused_by_hand = runs_[known->second].paused_by_hand;
    runs_[known->second] = std::move(run);
  }
}

void View::define_node(const NodeDefinition& definition) {
  const NodeIndex index = names_.intern(definition.name);
  defined_.push_back(index);
  const bool fresh = index == nodes_.size();
  if (fresh) nodes_.emplace_back().state = NodeState::ready;
  Node& node = nodes_[index];
  if (!fresh && !node.orphaned) return;  // named twice: the first one counts
  node.orphaned = false;
  node.kind = texts_.intern(definition.kind);
  node.first_epoch = definition.first_epoch;
  node.last_epoch = definition.last_epoch;
  if (!redefining_) count(node, node.state, 1);
  if (!definition.site.empty() && node.last_attempt == kNone) {
    const SiteIndex site = site_named(definition.site);
    if (redefining_)
      node.site = site;
    else
      move(index, site);
  }
  const auto run = run_by_uuid_.find(std::string(definition.run));
  if (run == run_by_uuid_.end()) return;
  node.run = run->second;
  runs_[node.run].nodes.push_back(index);
}

void View::define_nodes(const std::string& json) {
  children_.begin.clear();
  parents_.begin.clear();
  read_nodes(
      json, [this](const NodeDefinition& definition) { define_node(definition); },
      [this](const EdgeDefinition& ids) {
        if (ids.parent >= defined_.size() || ids.child >= defined_.size()) return;
        const EdgeDefinition edge{defined_[ids.parent], defined_[ids.child]};
        edges_.push_back(edge);
        if (redefining_) return;
        ++nodes_[edge.child].waits_for;
        if (nodes_[edge.child].state == NodeState::ready) set_state(edge.child, NodeState::waiting, 0);
      });
  if (redefining_ && defined_.size() >= to_define_) finish_definition();
}

SiteIndex View::site_named(std::string_view name) {
  const auto [entry, fresh] = site_by_name_.try_emplace(std::string(name), static_cast<SiteIndex>(sites_.size()));
  if (fresh) sites_.push_back({std::string(name), nullptr, {}});
  return entry->second;
}

void View::Adjacency::build(std::size_t nodes, std::span<const EdgeDefinition> edges, NodeIndex EdgeDefinition::* from,
                            NodeIndex EdgeDefinition::* towards) {
  begin.assign(nodes + 1, 0);
  for (const EdgeDefinition& edge : edges) ++begin[edge.*from + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  to.resize(edges.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const EdgeDefinition& edge : edges) to[next[edge.*from]++] = edge.*towards;
}

std::span<const NodeIndex> View::children(NodeIndex node) const {
  if (children_.begin.empty()) children_.build(nodes_.size(), edges_, &EdgeDefinition::parent, &EdgeDefinition::child);
  return children_.of(node);
}

std::span<const NodeIndex> View::parents(NodeIndex node) const {
  if (parents_.begin.empty()) parents_.build(nodes_.size(), edges_, &EdgeDefinition::child, &EdgeDefinition::parent);
  return parents_.of(node);
}

// --- the engine -------------------------------------------------------------------------------------------------

void View::apply_to_engine(const Event& event, const Fields& fields) {
  switch (event.kind) {
    case Kind::engine_started:
      // One that did not end orderly counts up to the last that was heard of it.
      if (engine_.started != 0 && !engine_.stopped) engine_.earlier_sessions += engine_.last_event - engine_.started;
      engine_.pid = fields.number<std::int64_t>("pid");
      engine_.user = std::string(fields.text("user"));
      engine_.host = std::string(fields.text("host"));
      engine_.version = std::string(fields.text("version"));
      engine_.started = event.time;
      engine_.stopped.reset();
      engine_.paused.reset();
      break;
    case Kind::engine_stopped:
      engine_.stopped = std::string(fields.text("reason"));
      engine_.earlier_sessions += event.time - engine_.started;
      break;
    case Kind::taken_over:
      engine_.user = std::string(fields.text("user"));
      if (!engine_.stopped) engine_.earlier_sessions += engine_.last_event - engine_.started;
      engine_.stopped = "taken_over";
      break;
    case Kind::paused:
      engine_.paused = {event.time, std::string(fields.text("reason"))};
      break;
    case Kind::unpaused:
      engine_.paused.reset();
      break;
    case Kind::run_paused:
    case Kind::run_promoted:
    case Kind::run_pruned:
      steer(event, fields);
      break;
    case Kind::warning:
      warnings_.push_back({event.time, std::string(fields.text("message")), find_node(event.node).value_or(kNone),
                           std::string(fields.text("about")), fields.number<std::uint32_t>("epoch")});
      break;
    case Kind::dag_ended:
      ended_ = {fields.flag("success"), event.time};
      break;
    default:
      break;
  }
}

// --- nodes ------------------------------------------------------------------------------------------------------

void View::apply_to_node(const Event& event, const Fields& fields, NodeIndex node) {
  if (event.attempt > nodes_[node].attempts) nodes_[node].attempts = event.attempt;
  switch (event.kind) {
    case Kind::placed:
      if (const std::string_view site = fields.text("site"); !site.empty()) move(node, site_named(site));
      nodes_[node].placement = intern(fields, "reason");
      break;
    case Kind::submitting:
      submit(node, event, fields);
      break;
    case Kind::queued:
      enqueue(node, event, fields);
      break;
    case Kind::active:
      activate(node, event, fields);
      break;
    case Kind::epoch:
      add_metrics(node, event, fields);
      break;
    case Kind::attempt_ended:
      end_attempt(node, event, fields);
      break;
    case Kind::checkpoint:
    case Kind::checkpoint_dropped:
      record_checkpoint(node, event, fields);
      break;
    default:
      end_node(node, event, fields);
      break;
  }
}

TextId View::intern(const Fields& fields, std::string_view key) {
  const std::string_view text = fields.text(key);
  return text.empty() ? 0 : texts_.intern(text);
}

Attempt& View::attempt_of(NodeIndex node, const Event& event, const Fields& fields) {
  const TextId phase = intern(fields, "phase");
  for (AttemptIndex i = nodes_[node].last_attempt; i != kNone; i = attempts_[i].previous)
    if (attempts_[i].number == event.attempt && attempts_[i].phase == phase) return attempts_[i];
  Attempt& attempt = attempts_.emplace_back();
  attempt.node = node;
  attempt.number = event.attempt;
  attempt.phase = phase;
  attempt.site = nodes_[node].site;
  attempt.previous = std::exchange(nodes_[node].last_attempt, static_cast<AttemptIndex>(attempts_.size() - 1));
  return attempt;
}

void View::submit(NodeIndex node, const Event& event, const Fields& fields) {
  if (const std::string_view site = fields.text("site"); !site.empty()) move(node, site_named(site));
  Attempt& attempt = attempt_of(node, event, fields);
  attempt.site = nodes_[node].site;
  attempt.submitted = event.time;
  attempt.asked_memory_mb = fields.number<std::uint64_t>("memory_mb");
  attempt.stdout_path = intern(fields, "stdout");
  attempt.stderr_path = intern(fields, "stderr");
  if (moves_node(attempt)) set_state(node, NodeState::queued, event.time);
}

void View::enqueue(NodeIndex node, const Event& event, const Fields& fields) {
  Attempt& attempt = attempt_of(node, event, fields);
  attempt.native_id = intern(fields, "native_id");
  if (moves_node(attempt)) set_state(node, NodeState::queued, event.time);
}

void View::activate(NodeIndex node, const Event& event, const Fields& fields) {
  Attempt& attempt = attempt_of(node, event, fields);
  attempt.started = event.time;
  if (const TextId host = intern(fields, "host"); host != 0) attempt.host = host;
  if (const TextId id = intern(fields, "native_id"); id != 0) attempt.native_id = id;
  if (moves_node(attempt)) set_state(node, NodeState::active, event.time);
}

void View::end_attempt(NodeIndex node, const Event& event, const Fields& fields) {
  Attempt& attempt = attempt_of(node, event, fields);
  attempt.outcome = intern(fields, "outcome");
  attempt.retry = intern(fields, "retry");
  attempt.detail = intern(fields, "detail");
  attempt.exit_code = fields.number<int>("exit_code");
  attempt.signal = fields.number<int>("signal");
  attempt.wall_s = fields.number<double>("wall_s");
  attempt.cpu_s = fields.number<double>("cpu_s");
  attempt.peak_memory_kb = fields.number<std::uint64_t>("peak_memory_kb");
  if (const Micros started = fields.number<Micros>("started_us"); started != 0) attempt.started = started;
  const Micros ended = fields.number<Micros>("ended_us");
  attempt.ended = ended != 0 ? ended : event.time;
  // What follows (another phase, another attempt, the node's end) has events of its own.
  if (moves_node(attempt)) set_state(node, NodeState::ready, event.time);
}

void View::end_node(NodeIndex node, const Event& event, const Fields& fields) {
  switch (event.kind) {
    case Kind::node_done:
      set_state(node, NodeState::done, event.time);
      break;
    case Kind::node_failed:
      nodes_[node].reason = intern(fields, "reason");
      set_state(node, NodeState::failed, event.time);
      break;
    case Kind::node_futile:
      nodes_[node].because = find_node(fields.text("because")).value_or(kNone);
      set_state(node, NodeState::futile, event.time);
      break;
    case Kind::node_pruned:
      nodes_[node].reason = intern(fields, "reason");
      set_state(node, NodeState::pruned, event.time);
      break;
    case Kind::node_reset:
      ended_.reset();
      nodes_[node].because = kNone;
      nodes_[node].reason = 0;
      set_state(node, nodes_[node].waits_for == 0 ? NodeState::ready : NodeState::waiting, event.time);
      break;
    default:
      break;
  }
}

void View::steer(const Event& event, const Fields& fields) {
  const auto found = run_by_uuid_.find(std::string(fields.text("run")));
  if (found == run_by_uuid_.end()) return;
  Run& run = runs_[found->second];
  if (event.kind == Kind::run_promoted) {
    run.steered.reset();
    run.paused_by_hand = false;
    return;
  }
  Steered steered;
  steered.pruned = event.kind == Kind::run_pruned;
  steered.by = std::string(fields.text("by"));
  steered.reason = std::string(fields.text("reason"));
  steered.epoch = fields.number<std::uint32_t>("epoch");
  if (steered.by == "asha") steered.rung = fields.number<std::uint32_t>("rung");
  steered.time = event.time;
  run.paused_by_hand = !steered.pruned && (run.paused_by_hand || steered.by == "hand");
  run.steered = std::move(steered);
}

void View::record_checkpoint(NodeIndex node, const Event& event, const Fields& fields) {
  const auto [known, fresh] = checkpoint_by_node_.try_emplace(node, checkpoints_.size());
  if (fresh) checkpoints_.emplace_back();
  CheckpointRecord& record = checkpoints_[known->second];
  record.node = node;
  record.epoch = fields.number<std::uint32_t>("epoch");
  record.content.bytes = fields.number<std::uint64_t>("bytes");
  record.dropped = event.kind == Kind::checkpoint_dropped ? event.time : 0;
  if (const auto digest = hash128_from(fields.text("digest"))) record.content.digest = *digest;
}

const CheckpointRecord* View::checkpoint_of(NodeIndex node) const {
  const auto found = checkpoint_by_node_.find(node);
  return found == checkpoint_by_node_.end() ? nullptr : &checkpoints_[found->second];
}

void View::add_metrics(NodeIndex node, const Event& event, const Fields& fields) {
  if (fields.empty()) return;
  const auto epoch = static_cast<std::uint32_t>(std::clamp(fields.number<double>("epoch"), 0.0, 4e9));
  // A journal may hold lines of epochs that their job does not train; they are none of its run either.
  const Node& of = nodes_[node];
  const bool foreign = epoch != 0 && of.last_epoch != 0 && (epoch < of.first_epoch || epoch > of.last_epoch);
  if (foreign && text(of.kind) == "train") return;
  nodes_[node].reported_epoch = std::max(nodes_[node].reported_epoch, epoch);
  if (const RunIndex run = nodes_[node].run; run != kNone)
    runs_[run].metrics.push_back(static_cast<std::uint32_t>(metrics_.size()));
  metrics_.push_back({node, event.attempt, epoch, event.time, event.json});
}

void View::set_state(NodeIndex index, NodeState state, Micros time) {
  Node& node = nodes_[index];
  if (node.state == state) return;
  const bool was_done = node.state == NodeState::done;
  count(node, node.state, -1);
  count(node, state, 1);
  node.state = state;
  node.changed = time;
  if (was_done == (state == NodeState::done)) return;
  for (const NodeIndex child_index : children(index)) {
    Node& child = nodes_[child_index];
    child.waits_for += was_done ? 1 : -1;
    if (child.state == NodeState::waiting && child.waits_for == 0)
      set_state(child_index, NodeState::ready, time);
    else if (child.state == NodeState::ready && child.waits_for != 0)
      set_state(child_index, NodeState::waiting, time);
  }
}

void View::move(NodeIndex index, SiteIndex site) {
  Node& node = nodes_[index];
  count(node, node.state, -1);
  node.site = site;
  count(node, node.state, 1);
}

void View::count(const Node& node, NodeState state, int change) {
  if (node.kind == service_kind_ || node.orphaned) return;
  counts_.of[static_cast<std::size_t>(state)] += static_cast<std::uint64_t>(change);
  if (node.site != kNone)
    sites_[node.site].counts.of[static_cast<std::size_t>(state)] += static_cast<std::uint64_t>(change);
}

bool View::moves_node(const Attempt& attempt) const {
  return attempt.phase != hold_phase_;
}

// --- questions --------------------------------------------------------------------------------------------------

std::optional<NodeIndex> View::find_node(std::string_view name) const {
  return names_.find(name);
}

std::optional<RunIndex> View::find_run(std::string_view name) const {
  if (const auto found = run_with_uuid(std::string(name))) return found;
  if (name.starts_with("run")) name.remove_prefix(3);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.number == number; });
  if (found == runs_.end()) return std::nullopt;
  return static_cast<RunIndex>(found - runs_.begin());
}

std::optional<RunIndex> View::run_with_uuid(const std::string& uuid) const {
  const auto found = run_by_uuid_.find(uuid);
  return found == run_by_uuid_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<AttemptIndex> View::attempts_of(NodeIndex node) const {
  std::vector<AttemptIndex> out;
  for (AttemptIndex i = nodes_[node].last_attempt; i != kNone; i = attempts_[i].previous) out.push_back(i);
  std::reverse(out.begin(), out.end());
  return out;
}

Counts View::counts_of(const Run& run) const {
  Counts counts;
  for (const NodeIndex node : run.nodes) ++counts.of[static_cast<std::size_t>(nodes_[node].state)];
  return counts;
}

std::vector<SiteIndex> View::site_path(const Run& run) const {
  std::vector<std::pair<std::uint32_t, SiteIndex>> by_epoch;
  for (const NodeIndex index : run.nodes)
    if (text(nodes_[index].kind) == "train") by_epoch.emplace_back(nodes_[index].first_epoch, nodes_[index].site);
  std::stable_sort(by_epoch.begin(), by_epoch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SiteIndex> path;
  path.reserve(by_epoch.size());
  for (const auto& [epoch, site] : by_epoch) path.push_back(site);
  return path;
}

std::uint32_t View::epochs_done(const Run& run) const {
  std::uint32_t epochs = 0;
  for (const NodeIndex index : run.nodes) {
    const Node& node = nodes_[index];
    if (text(node.kind) != "train") continue;
    epochs += node.state == NodeState::done ? node.epochs() : epochs_reported(node);
  }
  return epochs;
}

Progress View::progress(Micros now, bool running_now) const {
  Progress progress;
  std::uint64_t lost = 0;
  for (const Node& node : nodes_) {
    if (node.kind == service_kind_ || node.orphaned) continue;
    progress.total += units_of(node);
    if (node.state == NodeState::done)
      progress.done += units_of(node);
    else if (node.state == NodeState::failed || node.state == NodeState::futile || node.state == NodeState::pruned)
      lost += units_of(node);
    else
      progress.done += epochs_reported(node);
  }
  if (!running_now || progress.done == 0 || engine_.stopped) return progress;
  const Micros worked = engine_.earlier_sessions + std::max<Micros>(0, now - engine_.started);
  const std::uint64_t left = progress.total - progress.done - lost;
  progress.remaining_s =
      static_cast<double>(worked) * 1e-6 * static_cast<double>(left) / static_cast<double>(progress.done);
  return progress;
}

}  // namespace godwit::journal
