#include "godwit/journal/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <unordered_map>

#include "godwit/base/units.h"
#include "godwit/journal/endings.h"
#include "godwit/journal/log_files.h"

namespace godwit::journal {
namespace {

constexpr std::size_t kEvidenceLines = 8;
constexpr std::size_t kMostNamed = 5;

bool is_under_way(NodeState state) {
  return state == NodeState::queued || state == NodeState::active;
}

}  // namespace

Json to_json(const Explanation& e) {
  Json json{{"subject", e.subject}, {"state", e.state}, {"summary", e.summary}, {"facts", e.facts}};
  if (!e.evidence_file.empty()) {
    json["evidence_file"] = e.evidence_file;
    json["evidence"] = e.evidence;
  }
  if (!e.advice.empty()) json["advice"] = e.advice;
  if (!e.alike.empty()) json["alike"] = e.alike;
  return json;
}

Explainer::Explainer(const View& view, const StateDir& state, EngineStatus engine, Micros now)
    : view_(view), state_(state), engine_(std::move(engine)), now_(now) {}

Explanation Explainer::begin(NodeIndex node) const {
  Explanation out;
  out.subject = view_.name_of(node);
  out.state = to_string(at(node).state);
  return out;
}

Explanation Explainer::node(NodeIndex index) const {
  Explanation out = begin(index);
  switch (at(index).state) {
    case NodeState::waiting:
      explain_waiting(index, out);
      break;
    case NodeState::ready:
      explain_ready(index, out);
      break;
    case NodeState::queued:
    case NodeState::active:
      explain_under_way(index, out);
      break;
    case NodeState::done:
      explain_done(index, out);
      break;
    case NodeState::failed:
      explain_failed(index, out);
      break;
    case NodeState::futile:
      explain_futile(index, out);
      break;
    case NodeState::pruned:
      explain_pruned(index, out);
      break;
  }
  add_warnings(index, out);
  if (at(index).orphaned) out.facts.emplace_back("the experiment no longer has this job; what it made is kept");
  return out;
}

// --- one node ---------------------------------------------------------------------------------------------------

// Up along parents that are not done, to one that does not wait itself.
NodeIndex Explainer::holds_up(NodeIndex node) const {
  while (at(node).state == NodeState::waiting) {
    const auto parents = view_.parents(node);
    const auto open = std::find_if(parents.begin(), parents.end(),
                                   [&](NodeIndex parent) { return at(parent).state != NodeState::done; });
    if (open == parents.end()) break;
    node = *open;
  }
  return node;
}

void Explainer::explain_waiting(NodeIndex node, Explanation& out) const {
  std::vector<std::string> open;
  for (const NodeIndex parent : view_.parents(node))
    if (at(parent).state != NodeState::done)
      open.push_back(fmt::format("{} ({})", view_.name_of(parent), to_string(at(parent).state)));
  const std::size_t named = std::min(open.size(), kMostNamed);
  out.summary =
      fmt::format("it waits for {}", fmt::join(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (open.size() > named) out.summary += fmt::format(" and {} more", open.size() - named);
  const NodeIndex first = holds_up(node);
  if (first == node) return;
  const Explanation cause = this->node(first);
  out.facts.push_back(fmt::format("first in line is {}: {}", cause.subject, cause.summary));
  out.advice = cause.advice;
}

void Explainer::explain_ready(NodeIndex node, Explanation& out) const {
  const std::optional<Explanation> held = at(node).run == kNone || view_.text(at(node).kind) != "train"
                                              ? std::nullopt
                                              : steered(view_.runs()[at(node).run]);
  if (held) {
    out.summary = fmt::format("{} {}", held->subject, held->summary);
    out.advice = held->advice;
  } else if (view_.text(at(node).kind) == "service") {
    out.summary = "it is a service node: it runs while an engine is at work";
  } else if (const std::optional<Explanation> whole = this->whole()) {
    out.summary = whole->summary;
    out.advice = whole->advice;
  } else {
    out.summary = "it is ready; " + throttle(at(node).site);
  }
  add_attempts(node, out);
}

// An engine is at work and not paused: what keeps ready nodes of the site from starting.
std::string Explainer::throttle(SiteIndex site) const {
  constexpr const char* kNextTurn = "the engine starts what it can at its next turn";
  if (site == kNone) return kNextTurn;
  const Site& where = view_.sites()[site];
  const std::uint64_t busy = where.counts[NodeState::queued] + where.counts[NodeState::active];
  const std::uint64_t slots = where.definition.is_object() && where.definition.contains("slots") &&
                                      where.definition["slots"].is_number_unsigned()
                                  ? where.definition["slots"].get<std::uint64_t>()
                                  : 0;
  if (slots != 0 && busy >= slots)
    return fmt::format("no slot is free at {}: it has {}, {} in use", where.name, format_count(slots, "slot"), busy);
  if (const std::string limit = held_by_limit(site); !limit.empty()) return limit;
  if (busy > 0)
    return fmt::format("with {} under way at {}, resources or `max_jobs` allow no more", format_count(busy, "job"),
                       where.name);
  return kNextTurn;
}

// "`max_jobs` lets 2 jobs run at once at north, and run0-train_epoch2, run1-train_epoch0 do"; "" where no such limit
// is reached.
std::string Explainer::held_by_limit(SiteIndex site) const {
  const Json& source = view_.source();
  if (!source.is_object() || !source.contains("experiment") || !source["experiment"].is_object()) return {};
  const Json limits = source["experiment"].value("max_jobs", Json());
  const std::string& name = view_.sites()[site].name;
  const auto limit_of = [&](const std::string& key) -> std::uint64_t {
    const Json limit = limits.is_object() ? limits.value(key, Json()) : key == "total" ? limits : Json();
    std::uint64_t number = 0;
    if (limit.is_string()) {
      const std::string& text = limit.get_ref<const std::string&>();
      std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return number;
  };
  for (const bool everywhere : {false, true}) {
    const std::uint64_t limit = limit_of(everywhere ? "total" : name);
    if (limit == 0) continue;
    std::vector<std::string> holders;
    for (NodeIndex node = 0; node < view_.nodes().size(); ++node)
      if (is_under_way(at(node).state) && (everywhere || at(node).site == site) &&
          view_.text(at(node).kind) != "service")
        holders.emplace_back(view_.name_of(node));
    if (holders.size() < limit) continue;
    const std::size_t named = std::min(holders.size(), kMostNamed);
    return fmt::format("`max_jobs` lets {} run at once{}: {}{}", format_count(limit, "job"),
                       everywhere ? "" : fmt::format(" at {}", name), fmt::join(std::span(holders).first(named), ", "),
                       holders.size() > named ? " …" : "");
  }
  return {};
}

void Explainer::explain_under_way(NodeIndex index, Explanation& out) const {
  const Node& node = at(index);
  const Attempt* attempt = node.last_attempt == kNone ? nullptr : &view_.attempts()[node.last_attempt];
  const std::string site = node.site == kNone ? "" : fmt::format(" at {}", view_.site_name(node.site));
  const bool active = node.state == NodeState::active;
  out.summary = active ? fmt::format("it has been running{} for {}", site, since(node.changed))
                       : fmt::format("it has been queued{} for {}", site, since(node.changed));
  if (attempt != nullptr && view_.text(attempt->phase) != "job")
    out.facts.push_back(fmt::format("its {} script is under way", view_.text(attempt->phase)));
  if (active && attempt != nullptr && attempt->host != 0)
    out.facts.push_back(
        fmt::format("on {}{}", view_.text(attempt->host),
                    attempt->native_id == 0 ? "" : fmt::format(" as {}", view_.text(attempt->native_id))));
  if (node.reported_epoch != 0)
    out.facts.push_back(fmt::format("it has told of epoch {}, its last is {}", node.reported_epoch, node.last_epoch));
  if (!engine_.running()) {
    out.facts.emplace_back("no engine is at work: what becomes of it is seen when one is");
    out.advice = "godwit run";
  }
  add_attempts(index, out);
}

void Explainer::explain_done(NodeIndex index, Explanation& out) const {
  out.summary =
      at(index).changed == 0 ? "it is done" : fmt::format("it has been done for {}", since(at(index).changed));
  if (const CheckpointRecord* left = view_.checkpoint_of(index))
    out.facts.push_back(fmt::format("its checkpoint, of epoch {}, {} ({})", left->epoch,
                                    left->dropped == 0 ? "is kept" : "was deleted: 'keep' does not keep it",
                                    format_bytes(left->content.bytes)));
  add_attempts(index, out);
}

const Attempt* Explainer::last_ended(NodeIndex node) const {
  for (AttemptIndex i = at(node).last_attempt; i != kNone; i = view_.attempts()[i].previous)
    if (view_.attempts()[i].has_ended()) return &view_.attempts()[i];
  return nullptr;
}

void Explainer::explain_failed(NodeIndex index, Explanation& out) const {
  if (const Attempt* attempt = last_ended(index)) {
    const std::string_view reason = view_.text(at(index).reason);
    const EndingWords words = explain_failure(view_, *attempt, reason);
    out.summary = words.what;
    if (view_.text(attempt->phase) != "job")
      out.summary = fmt::format("of its {} script: {}", view_.text(attempt->phase), out.summary);
    out.advice = words.advice;
    add_evidence(*attempt, out);
  } else {
    out.summary = at(index).reason != 0 ? std::string(view_.text(at(index).reason)) : "it failed";
    out.advice = fmt::format("mend the cause, then: godwit retry {}", out.subject);
  }
  add_attempts(index, out);
}

void Explainer::explain_futile(NodeIndex index, Explanation& out) const {
  const NodeIndex cause = at(index).because;
  if (cause == kNone) {
    out.summary = "a job before it failed";
    return;
  }
  const Explanation failed = node(cause);
  out.summary = fmt::format("it cannot run, because {} failed", failed.subject);
  out.facts.push_back(fmt::format("{}: {}", failed.subject, failed.summary));
  out.evidence_file = failed.evidence_file;
  out.evidence = failed.evidence;
  out.advice = failed.advice;
}

void Explainer::explain_pruned(NodeIndex node, Explanation& out) const {
  const RunIndex run = at(node).run;
  const std::optional<Explanation> whole = run == kNone ? std::nullopt : steered(view_.runs()[run]);
  out.summary = whole ? fmt::format("it is not run: {} {}", whole->subject, whole->summary)
                      : fmt::format("it is not run: {}", view_.text(at(node).reason));
}

std::optional<Explanation> Explainer::steered(const Run& run) const {
  if (!run.steered) return std::nullopt;
  const Steered& what = *run.steered;
  Explanation out;
  out.subject = fmt::format("run{}", run.number);
  const std::string at_epoch = what.epoch == 0 ? "" : fmt::format(" at epoch {}", what.epoch);
  if (what.pruned) {
    out.state = "pruned";
    out.summary = fmt::format("was {}{}: {}", word_of(what), at_epoch, what.reason);
    out.facts.emplace_back("what it had reached is kept");
  } else {
    out.state = "paused";
    out.summary = fmt::format("has been paused{} for {}: {}", at_epoch, since(what.time), what.reason);
    if (run.paused_by_hand && what.by != "hand") out.facts.emplace_back("it was paused by hand, too");
    out.advice = fmt::format("godwit promote {}", out.subject);
  }
  return out;
}

// "attempt 2 at delta: signal 11 (SIGSEGV), after 12.5 s, peak memory 200 MB of 1 GB asked; continued".
std::string Explainer::attempt_line(const Attempt& attempt) const {
  std::string line = fmt::format("attempt {}", attempt.number);
  if (const std::string_view phase = view_.text(attempt.phase); phase != "job")
    line += fmt::format(", {} script", phase);
  if (attempt.site != kNone) line += fmt::format(" at {}", view_.site_name(attempt.site));
  line += ": " + short_ending(view_, attempt);
  if (attempt.wall_s > 0) line += fmt::format(", after {}", format_duration(attempt.wall_s));
  if (attempt.peak_memory_kb != 0) {
    line += fmt::format(", peak memory {}", format_bytes(attempt.peak_memory_kb * 1024));
    if (attempt.asked_memory_mb != 0) line += fmt::format(" of {} asked", format_memory_mb(attempt.asked_memory_mb));
  }
  const std::string_view retry = view_.text(attempt.retry);
  if (retry == "continued" || retry == "retried") line += fmt::format("; {}", retry);
  return line;
}

void Explainer::add_attempts(NodeIndex node, Explanation& out) const {
  for (const AttemptIndex index : view_.attempts_of(node))
    if (const Attempt& attempt = view_.attempts()[index]; attempt.has_ended())
      out.facts.push_back(attempt_line(attempt));
}

void Explainer::add_warnings(NodeIndex node, Explanation& out) const {
  const std::string begin = fmt::format("{}: ", view_.name_of(node));
  for (const Message& warning : view_.warnings())
    if (warning.node == node)
      out.facts.push_back("warning: " +
                          (warning.text.starts_with(begin) ? warning.text.substr(begin.size()) : warning.text));
}

void Explainer::add_evidence(const Attempt& attempt, Explanation& out) const {
  const LogFiles files = log_files(view_, state_, attempt);
  for (const std::string& file : {files.err, files.out}) {
    if (file.empty()) continue;
    out.evidence = last_lines(file, kEvidenceLines);
    if (out.evidence.empty()) continue;
    out.evidence_file = file;
    return;
  }
}

std::string Explainer::since(Micros time) const {
  return format_age(static_cast<double>(std::max<Micros>(0, now_ - time)) * 1e-6);
}

// --- several ----------------------------------------------------------------------------------------------------

std::vector<Explanation> Explainer::run(const Run& run) const {
  std::vector<Explanation> out;
  const auto add_all = [&](auto&& wanted) {
    for (const NodeIndex node : run.nodes)
      if (wanted(at(node).state)) out.push_back(this->node(node));
  };
  if (auto whole = steered(run)) out.push_back(std::move(*whole));
  add_all([](NodeState state) { return state == NodeState::failed; });
  if (out.empty()) add_all(is_under_way);
  if (out.empty()) add_all([](NodeState state) { return state == NodeState::ready; });
  const auto first_with = [&](NodeState state) {
    return std::find_if(run.nodes.begin(), run.nodes.end(), [&](NodeIndex node) { return at(node).state == state; });
  };
  for (const NodeState state : {NodeState::futile, NodeState::waiting})
    if (const auto node = first_with(state); out.empty() && node != run.nodes.end()) out.push_back(this->node(*node));
  return out;
}

std::optional<Explanation> Explainer::whole() const {
  const Counts& counts = view_.counts();
  const std::uint64_t open = counts.total() - counts[NodeState::done] - counts[NodeState::failed] -
                             counts[NodeState::futile] - counts[NodeState::pruned];
  if (open == 0) return std::nullopt;
  Explanation out;
  if (engine_.running()) {
    if (!engine_.paused) return std::nullopt;
    out.state = "paused";
    out.summary = fmt::format("no new jobs have started for {}: {}", since(engine_.paused->time), engine_.paused->text);
    out.advice = "it goes on by itself once that is over; for a full disk, make room";
    return out;
  }
  out.state = to_string(engine_.state);
  switch (engine_.state) {
    case EngineState::never_started:
      out.summary = "nothing has been started yet";
      break;
    case EngineState::died:
      out.summary = fmt::format("the engine on {} (process {}) ended without saying so, {} ago", view_.engine().host,
                                view_.engine().pid, since(view_.engine().last_event));
      break;
    default:
      out.summary = fmt::format("no engine is at work: the last one {} {} ago", stop_words(view_.engine()),
                                since(view_.engine().last_event));
      break;
  }
  out.advice = "godwit run";
  return out;
}

std::optional<Explanation> Explainer::waits_at(SiteIndex site) const {
  const Site& where = view_.sites()[site];
  const std::uint64_t ready = where.counts[NodeState::ready];
  if (ready == 0) return std::nullopt;
  Explanation out;
  out.subject = where.name;
  out.state = "ready";
  out.summary = fmt::format("{} {} ready; {}", format_count(ready, "job"), ready == 1 ? "is" : "are", throttle(site));
  return out;
}

std::vector<std::vector<NodeIndex>> Explainer::failures() const {
  std::vector<std::vector<NodeIndex>> ways;
  std::unordered_map<std::string, std::size_t> way_of;
  for (NodeIndex node = 0; node < view_.nodes().size(); ++node) {
    if (at(node).state != NodeState::failed || at(node).orphaned) continue;
    const Attempt* attempt = last_ended(node);
    const std::string how = attempt == nullptr
                                ? std::string(view_.text(at(node).reason))
                                : fmt::format("{} {} {}", view_.text(attempt->phase), short_ending(view_, *attempt),
                                              view_.text(attempt->detail));
    const auto [way, fresh] = way_of.try_emplace(how, ways.size());
    if (fresh) ways.emplace_back();
    ways[way->second].push_back(node);
  }
  return ways;
}

Explanation Explainer::failure(const std::vector<NodeIndex>& nodes, std::uint64_t futile) const {
  Explanation out = node(nodes.front());
  for (const NodeIndex other : std::span(nodes).subspan(1)) out.alike.emplace_back(view_.name_of(other));
  if (!out.alike.empty()) {
    const std::size_t named = std::min(out.alike.size(), kMostNamed);
    std::string line = fmt::format("{} failed in the same way: {}", format_count(out.alike.size(), "more job"),
                                   fmt::join(std::span(out.alike).first(named), ", "));
    if (out.alike.size() > named) line += " …";
    out.facts.push_back(std::move(line));
  }
  if (futile != 0)
    out.facts.push_back(
        fmt::format("{} cannot run because of {}", format_count(futile, "job"), nodes.size() == 1 ? "it" : "them"));
  return out;
}

Explainer::Stuck Explainer::stuck(std::size_t most) const {
  Stuck out;
  const std::optional<Explanation> whole = this->whole();
  if (whole) out.all.push_back(*whole);
  std::vector<std::uint64_t> futile_by(view_.nodes().size(), 0);
  for (const Node& node : view_.nodes())
    if (node.state == NodeState::futile && !node.orphaned && node.because != kNone) ++futile_by[node.because];
  const std::vector<std::vector<NodeIndex>> ways = failures();
  for (std::size_t way = 0; way < std::min(ways.size(), most); ++way) {
    std::uint64_t futile = 0;
    for (const NodeIndex node : ways[way]) futile += futile_by[node];
    out.all.push_back(failure(ways[way], futile));
  }
  out.ways_left_out = ways.size() - std::min(ways.size(), most);
  for (SiteIndex site = 0; !whole && site < view_.sites().size(); ++site)
    if (const std::optional<Explanation> waits = waits_at(site)) out.all.push_back(*waits);
  return out;
}

}  // namespace godwit::journal
