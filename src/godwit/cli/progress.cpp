#include "godwit/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "godwit/base/bookkeeping.h"
#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/base/printable.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"

namespace godwit::cli {

using journal::Kind;

namespace {

constexpr std::size_t kEveryJobUpTo = 2000;  // jobs; larger Dags get a line every few seconds
constexpr Micros kRedraw = 100'000;          // a live line
constexpr Micros kPlainEvery = 10'000'000;   // a plain headline
constexpr std::size_t kMetricsShown = 2;

// Losses and scores first; of other metrics, what is not bookkeeping.
std::string metrics_text(const Json& line) {
  std::vector<std::string> shown;
  const auto show_those = [&](const auto& wanted) {
    for (const auto& [key, value] : line.items())
      if (shown.size() < kMetricsShown && value.is_number() && wanted(key))
        shown.push_back(fmt::format("{} {:.4g}", key, value.template get<double>()));
  };
  show_those([](const std::string& key) {
    return key.find("loss") != std::string::npos || key.find("spearman") != std::string::npos ||
           key.find("acc") != std::string::npos;
  });
  if (shown.empty()) show_those([](const std::string& key) { return !is_bookkeeping(key); });
  return join(shown, ", ");
}

// "exit code 3", "out of memory".
std::string outcome_text(const Json& attempt_ended) {
  std::string outcome = attempt_ended.value("outcome", "");
  if (outcome == "exited") return fmt::format("exit code {}", attempt_ended.value("exit_code", 0));
  std::replace(outcome.begin(), outcome.end(), '_', ' ');
  return outcome;
}

void print_json(const journal::Event& event) {
  Json json{{"seq", event.seq}, {"time", iso_time(event.time)}, {"kind", journal::to_string(event.kind)}};
  if (!event.node.empty()) json["node"] = event.node;
  if (event.attempt != 0) json["attempt"] = event.attempt;
  if (!event.json.empty()) json["data"] = Json::parse(event.json, nullptr, false);
  fmt::print("{}\n", dump(json));
  std::fflush(stdout);
}

// What the terminal gets of it: messages of several lines, and blanks at the end, would break the display.
std::string one_line(std::string_view text) {
  std::string line(text.substr(0, text.find_last_not_of(' ') + 1));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return printable(line);
}

}  // namespace

Progress::Progress(const dag::Graph& graph, Mode mode, Terminal terminal, bool hints)
    : graph_(graph),
      mode_(mode),
      terminal_(terminal),
      hints_(hints),
      started_(system_clock().monotonic()),
      last_site_(graph.runs().size()) {}

Progress::~Progress() {
  clear_live_line();
}

bool Progress::talkative() const {
  return graph_.size() <= kEveryJobUpTo;
}

void Progress::on_event(const journal::Event& event) {
  if (mode_ == Mode::json) return print_json(event);
  if (mode_ == Mode::quiet) return;
  switch (event.kind) {
    case Kind::node_failed: {
      const std::string reason = Json::parse(event.json).value("reason", "");
      return line(hints_ ? fmt::format("{} failed: {}  (godwit why {})", event.node, reason, event.node)
                         : fmt::format("{} failed: {}", event.node, reason),
                  Style::bad);
    }
    case Kind::warning:
      return line("warning: " + Json::parse(event.json).value("message", ""), Style::note);
    case Kind::escalated: {
      const Json json = Json::parse(event.json);
      return line(fmt::format("{} gets more memory: {} → {}", event.node,
                              format_memory_mb(json.at("from_mb").get<std::int64_t>()),
                              format_memory_mb(json.at("to_mb").get<std::int64_t>())),
                  Style::note);
    }
    default:
      break;
  }
  if (!talkative()) return;
  if (event.kind == Kind::epoch) {
    news_[event.node].metrics = metrics_text(Json::parse(event.json));
  } else if (event.kind == Kind::attempt_ended) {
    const Json json = Json::parse(event.json);
    if (json.value("phase", "") == "job") news_[event.node].wall_s += json.value("wall_s", 0.0);
    const std::string retry = json.value("retry", "none");
    if (retry != "none")
      line(fmt::format("{} {}: {}", event.node, retry == "retried" ? "is retried" : "goes on in a new attempt",
                       outcome_text(json)),
           Style::note);
  } else if (event.kind == Kind::node_done) {
    node_done(event);
  }
}

std::string Progress::where(dag::NodeId node) {
  const std::string& site = graph_.sites()[graph_.planned_site(node)];
  const dag::RunId run = graph_.run_of(node);
  if (run == dag::kNoRun || graph_.kind(node) != dag::NodeKind::train) return site;
  const std::string before = std::exchange(last_site_[run], site);
  return before.empty() || before == site ? site : fmt::format("{} → {}", before, site);
}

void Progress::node_done(const journal::Event& event) {
  const auto node = graph_.find(event.node);
  if (!node || graph_.kind(*node) == dag::NodeKind::noop) return;
  const NodeNews news = std::exchange(news_[event.node], {});
  news_.erase(event.node);
  std::string epochs;
  const auto first = graph_.var(*node, "first_epoch"), last = graph_.var(*node, "last_epoch");
  if (graph_.kind(*node) == dag::NodeKind::train && first && last)
    epochs = *first == *last ? fmt::format("epoch {}", *last) : fmt::format("epochs {}–{}", *first, *last);
  line(fmt::format("{:<20} {:<12} {:<22} {:>8}  {}", event.node, epochs, where(*node),
                   fmt::format("{:.1f} s", news.wall_s), news.metrics));
}

void Progress::line(const std::string& text, Style style) {
  clear_live_line();
  const double seconds = static_cast<double>(system_clock().monotonic() - started_) / 1e6;
  fmt::print(stderr, "{}{}\n", styled(fmt::format("{:>7.1f} s  ", seconds), Style::faint, terminal_),
             styled(one_line(text), style, terminal_));
}

void Progress::clear_live_line() {
  if (!live_line_shown_) return;
  fmt::print(stderr, "\r\033[K");
  live_line_shown_ = false;
}

std::string Progress::headline(const engine::Snapshot& snapshot) const {
  const engine::Counts& counts = snapshot.counts;
  const std::size_t total =
      counts.waiting + counts.ready + counts.running + counts.done + counts.failed + counts.futile + counts.pruned;
  std::string text = fmt::format("{} of {} jobs done, {} running", counts.done, total, counts.running);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.futile > 0) text += fmt::format(", {} futile", counts.futile);
  if (counts.pruned > 0) text += fmt::format(", {} pruned", counts.pruned);
  if (snapshot.stopping) text += "; stopping";
  if (!snapshot.paused.empty()) text += "; paused: " + snapshot.paused;
  return text;
}

void Progress::on_turn(const engine::Snapshot& snapshot) {
  if (mode_ == Mode::quiet || mode_ == Mode::json) return;
  if (snapshot.paused != last_paused_) {
    line(snapshot.paused.empty() ? "going on" : "paused: " + snapshot.paused + "; no new jobs until there is room",
         Style::note);
    last_paused_ = snapshot.paused;
  }
  if (snapshot.stopping && !std::exchange(said_stopping_, true) && snapshot.jobs_in_flight > 0)
    line(fmt::format("stopping: {} running jobs are asked to checkpoint; once more to stop at once",
                     snapshot.jobs_in_flight),
         Style::note);
  draw(snapshot);
}

void Progress::draw(const engine::Snapshot& snapshot) {
  const Micros now = system_clock().monotonic();
  if (mode_ == Mode::live) {
    if (now - last_drawn_ < kRedraw) return;
    fmt::print(stderr, "\r\033[K{}", headline(snapshot));
    std::fflush(stderr);
    live_line_shown_ = true;
  } else {
    if (now - last_drawn_ < kPlainEvery) return;
    line(headline(snapshot));
  }
  last_drawn_ = now;
}

}  // namespace godwit::cli
