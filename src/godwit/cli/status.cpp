#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "godwit/base/clock.h"
#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/cli/opened.h"
#include "godwit/cli/table.h"
#include "godwit/cli/terminal.h"
#include "godwit/journal/explain.h"
#include "godwit/journal/metrics.h"
#include "godwit/journal/stitch.h"
#include "godwit/report/format.h"

namespace godwit::cli {
namespace {

using journal::Counts;
using journal::EngineState;
using journal::EngineStatus;
using journal::NodeState;
using journal::Run;
using journal::View;

constexpr std::size_t kBarColumns = 30;
constexpr std::size_t kRunBarColumns = 8;
constexpr std::size_t kMostStuck = 3;
constexpr std::size_t kMostMetrics = 2;  // of training, and of evaluation
constexpr Micros kSecond = 1'000'000;

struct Options {
  std::string file;
  bool json = false;
  bool watch = false;
  double interval_s = 1;
  std::size_t rows = 40;
  bool all = false;
};

// What one display is made from.
struct Moment {
  const Opened& opened;
  EngineStatus engine;
  Micros now;
  Terminal terminal;
  std::size_t rows;

  const View& view() const { return opened.view; }
};

// --- words ------------------------------------------------------------------------------------------------------

struct StateWord {
  NodeState state;
  Style style;
};

// In the order in which they are told.
constexpr StateWord kStateWords[] = {
    {NodeState::done, Style::good},   {NodeState::active, Style::busy},   {NodeState::queued, Style::busy},
    {NodeState::ready, Style::plain}, {NodeState::waiting, Style::plain}, {NodeState::failed, Style::bad},
    {NodeState::futile, Style::bad},  {NodeState::pruned, Style::faint},
};

Style style_of(NodeState state) {
  const auto* found = std::find_if(std::begin(kStateWords), std::end(kStateWords),
                                   [&](const StateWord& word) { return word.state == state; });
  return found == std::end(kStateWords) ? Style::plain : found->style;
}

std::string ago(Micros now, Micros then) {
  return format_age(static_cast<double>(std::max<Micros>(0, now - then)) / kSecond);
}

// The state of a run as a whole.
NodeState state_of(const View& view, const Run& run) {
  const Counts counts = view.counts_of(run);
  for (const NodeState state : {NodeState::failed, NodeState::active, NodeState::queued, NodeState::ready})
    if (counts[state] != 0) return state;
  return counts[NodeState::waiting] != 0 ? NodeState::waiting : NodeState::done;
}

Cell engine_words(const Moment& moment) {
  const journal::EngineRecord& engine = moment.view().engine();
  if (moment.engine.running()) {
    const auto& holder = moment.engine.holder;
    const std::string by = holder && !holder->user.empty() ? " by " + holder->user : "";
    const std::string where = holder ? fmt::format("{} on {} (process {})", by, holder->host, holder->pid) : "";
    if (const auto& paused = moment.engine.paused)
      return {fmt::format("paused for {}: {}", ago(moment.now, paused->time), paused->text), Style::note};
    return {fmt::format("running for {}{}", ago(moment.now, engine.started), where), Style::busy};
  }
  if (const auto& ended = moment.view().ended())
    return ended->success ? Cell{fmt::format("succeeded {} ago", ago(moment.now, ended->time)), Style::good}
                          : Cell{fmt::format("failed {} ago", ago(moment.now, ended->time)), Style::bad};
  switch (moment.engine.state) {
    case EngineState::never_started:
      return {"not started yet"};
    case EngineState::died:
      return {fmt::format("its engine died: last heard of {} ago; go on with: godwit run",
                          ago(moment.now, engine.last_event)),
              Style::bad};
    default:
      return {fmt::format("its engine {} {} ago; go on with: godwit run", journal::stop_words(engine),
                          ago(moment.now, engine.last_event)),
              Style::note};
  }
}

// "delta → expanse ×2 → delta".
std::string path_text(const View& view, const Run& run) {
  const std::vector<journal::SiteIndex> path = view.site_path(run);
  std::string out;
  for (std::size_t i = 0; i < path.size();) {
    std::size_t end = i + 1;
    while (end < path.size() && path[end] == path[i]) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : " → ", view.site_name(path[i]));
    if (end - i > 1) out += fmt::format(" ×{}", end - i);
    i = end;
  }
  return out;
}

// The numbers in the last line of a series, validation first: "val_loss 0.512", "train_loss 0.634".
std::vector<std::string> newest(const View& view, journal::RunIndex run, std::string_view kind) {
  const std::vector<journal::EpochMetrics> epochs = journal::stitch(view, run, kind);
  std::vector<std::string> out;
  if (epochs.empty()) return out;
  std::size_t validation = 0;
  for (const auto& [name, value] : epochs.back().metrics.items()) {
    const std::optional<double> number = journal::metric_value(value);
    if (!number || name == "epoch" || name == "seconds") continue;
    const bool first = name.starts_with("val");
    out.insert(first ? out.begin() + static_cast<std::ptrdiff_t>(validation++) : out.end(),
               fmt::format("{} {}", name, report::format_number(*number)));
  }
  return out;
}

// What training told last, and the last evaluation.
std::string metrics_text(const View& view, journal::RunIndex run) {
  std::vector<std::string> all;
  for (const std::string_view kind : {"train", "evaluate"}) {
    std::vector<std::string> numbers = newest(view, run, kind);
    numbers.resize(std::min(numbers.size(), kMostMetrics));
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

void sort_by_number(const View& view, std::vector<journal::RunIndex>& runs) {
  std::sort(runs.begin(), runs.end(),
            [&](journal::RunIndex a, journal::RunIndex b) { return view.runs()[a].number < view.runs()[b].number; });
}

// The runs that the experiment has; not those that it had before it was edited.
std::vector<journal::RunIndex> wanted_runs(const View& view) {
  std::vector<journal::RunIndex> out;
  for (journal::RunIndex run = 0; run < view.runs().size(); ++run)
    if (!view.runs()[run].orphaned) out.push_back(run);
  sort_by_number(view, out);
  return out;
}

// Which runs to show where not all fit: those that need a look before those that are well, in their order.
std::vector<journal::RunIndex> shown_runs(const View& view, std::size_t rows) {
  std::vector<journal::RunIndex> all = wanted_runs(view);
  if (all.size() <= rows) return all;
  const auto urgency = [&](journal::RunIndex run) {
    const NodeState state = state_of(view, view.runs()[run]);
    return state == NodeState::failed ? 0 : state == NodeState::active ? 1 : state == NodeState::done ? 3 : 2;
  };
  std::vector<int> urgencies(all.size());
  std::transform(all.begin(), all.end(), urgencies.begin(), urgency);
  std::stable_sort(all.begin(), all.end(),
                   [&](journal::RunIndex a, journal::RunIndex b) { return urgencies[a] < urgencies[b]; });
  all.resize(rows);
  sort_by_number(view, all);
  return all;
}

// --- for people -------------------------------------------------------------------------------------------------

std::string headline(const Moment& moment) {
  const Cell words = engine_words(moment);
  return fmt::format("{}  {}\n", styled(report::printable(moment.view().dag().name), Style::strong, moment.terminal),
                     styled(words.text, words.style, moment.terminal));
}

std::string progress_line(const Moment& moment) {
  const journal::Progress progress = moment.view().progress(moment.now, moment.engine.running());
  const bool epochs = std::any_of(moment.view().nodes().begin(), moment.view().nodes().end(),
                                  [](const journal::Node& node) { return node.epochs() > 1; });
  std::string line =
      fmt::format("{} {:.0f} %  {} of {}", progress_bar(progress.fraction(), kBarColumns), 100 * progress.fraction(),
                  progress.done, format_count(progress.total, epochs ? "epoch" : "job"));
  if (progress.remaining_s && *progress.remaining_s > 0)
    line += fmt::format(", about {} left", format_duration(*progress.remaining_s));
  return line + "\n";
}

std::string counts_line(const Moment& moment) {
  const Counts& counts = moment.view().counts();
  std::string out;
  for (const StateWord& word : kStateWords) {
    if (counts[word.state] == 0) continue;
    const std::string text = fmt::format("{} {}", counts[word.state], to_string(word.state));
    out += (out.empty() ? "" : ", ") + styled(text, word.style, moment.terminal);
  }
  return fmt::format("{}: {}\n", format_count(counts.total(), "job"), out.empty() ? "none" : out);
}

// "stopped early at 12", "paused at 4", or the state of its jobs.
Cell run_state_cell(const Run& run, NodeState state) {
  const bool moves = state == NodeState::active || state == NodeState::queued || state == NodeState::failed;
  if (!run.steered || moves) return {std::string(to_string(state)), style_of(state)};
  const std::string word(word_of(*run.steered));
  return {run.steered->epoch == 0 ? word : fmt::format("{} at {}", word, run.steered->epoch),
          run.steered->pruned ? Style::faint : Style::note};
}

// Why runs wait or were ended: a line for each of the first few.
std::string steered_lines(const Moment& moment) {
  constexpr std::size_t kMostSteered = 10;
  std::string out;
  std::size_t left_out = 0, shown = 0;
  for (const Run& run : moment.view().runs()) {
    if (!run.steered || run.orphaned) continue;
    if (shown++ >= kMostSteered) {
      ++left_out;
      continue;
    }
    const std::string at = run.steered->epoch == 0 ? "" : fmt::format(" at epoch {}", run.steered->epoch);
    out +=
        fmt::format("run{} {}{}: {}\n", run.number, word_of(*run.steered), at, report::printable(run.steered->reason));
  }
  if (left_out != 0) out += fmt::format("… and {}\n", format_count(left_out, "more run"));
  return out;
}

std::string runs_table(const Moment& moment) {
  const View& view = moment.view();
  Table table({{"run"},
               {"values", Align::left, true},
               {"progress"},
               {"epochs", Align::right},
               {"sites", Align::left, true},
               {"last metrics", Align::left, true},
               {"state"}});
  for (const journal::RunIndex i : shown_runs(view, moment.rows)) {
    const Run& run = view.runs()[i];
    const std::uint32_t done = view.epochs_done(run);
    const double fraction = run.epochs == 0 ? 0 : static_cast<double>(done) / run.epochs;
    const NodeState state = state_of(view, run);
    table.add_row({{fmt::format("run{}{}", run.number, run.baseline ? " baseline" : "")},
                   {values_text(run.values)},
                   {progress_bar(fraction, kRunBarColumns)},
                   {fmt::format("{}/{}", done, run.epochs)},
                   {path_text(view, run)},
                   {metrics_text(view, i)},
                   run_state_cell(run, state)});
  }
  std::string out = table.render(moment.terminal);
  const std::size_t wanted = wanted_runs(view).size();
  if (wanted > moment.rows)
    out += fmt::format("… and {} (--all shows them)\n", format_count(wanted - moment.rows, "more run"));
  if (const std::size_t orphaned = view.runs().size() - wanted; orphaned != 0)
    out += fmt::format("{} that the experiment no longer has: what {} made is kept, and --json tells of {}\n",
                       format_count(orphaned, "run"), orphaned == 1 ? "it" : "they", orphaned == 1 ? "it" : "them");
  return out;
}

// Of a workflow without training runs: the nodes that are neither done nor waiting.
std::string nodes_table(const Moment& moment) {
  const View& view = moment.view();
  Table table({{"node", Align::left, true}, {"site"}, {"attempt", Align::right}, {"for", Align::right}, {"state"}});
  std::size_t shown = 0;
  for (journal::NodeIndex i = 0; i < view.nodes().size() && shown < moment.rows; ++i) {
    const journal::Node& node = view.nodes()[i];
    if (node.orphaned || node.state == NodeState::done || node.state == NodeState::waiting ||
        node.state == NodeState::futile)
      continue;
    ++shown;
    table.add_row({{std::string(view.name_of(i))},
                   {std::string(view.site_name(node.site))},
                   {node.attempts == 0 ? "" : std::to_string(node.attempts)},
                   {node.changed == 0 ? "" : ago(moment.now, node.changed)},
                   {std::string(to_string(node.state)), style_of(node.state)}});
  }
  return table.empty() ? std::string() : table.render(moment.terminal);
}

std::string sites_table(const Moment& moment) {
  Table table({{"site"},
               {"slots", Align::right},
               {"active", Align::right},
               {"queued", Align::right},
               {"ready", Align::right},
               {"waiting", Align::right},
               {"done", Align::right},
               {"failed", Align::right}});
  for (const journal::Site& site : moment.view().sites()) {
    if (site.counts.total() == 0) continue;
    const bool told = site.definition.is_object() && site.definition.contains("slots") &&
                      site.definition["slots"].is_number_unsigned();
    const auto count = [&](NodeState state) { return Cell{std::to_string(site.counts[state])}; };
    table.add_row({{site.name},
                   {told && site.definition["slots"] != 0 ? site.definition["slots"].dump() : ""},
                   count(NodeState::active),
                   count(NodeState::queued),
                   count(NodeState::ready),
                   count(NodeState::waiting),
                   count(NodeState::done),
                   count(NodeState::failed)});
  }
  return table.empty() ? std::string() : table.render(moment.terminal);
}

std::string failed_line(const journal::Explanation& e) {
  const std::string others = e.alike.empty() ? "" : fmt::format(" and {}", format_count(e.alike.size(), "other"));
  return fmt::format("{}{} failed: {}", e.subject, others, e.summary);
}

std::string stuck_lines(const Moment& moment) {
  const journal::Explainer explainer(moment.view(), moment.opened.state, moment.engine, moment.now);
  const journal::Explainer::Stuck stuck = explainer.stuck(kMostStuck);
  std::string out;
  for (const journal::Explanation& e : stuck.all) {
    if (e.subject.empty()) continue;  // the headline says it
    const Style style = e.state == "failed" ? Style::bad : Style::note;
    std::string line = report::printable(e.state == "failed" ? failed_line(e) : e.summary);
    if (moment.terminal.width != 0) line = report::shorten(line, moment.terminal.width);
    out += styled(line, style, moment.terminal) + "\n";
  }
  if (stuck.ways_left_out != 0)
    out += fmt::format("… and {}\n", format_count(stuck.ways_left_out, "more way of failing", "more ways of failing"));
  if (!out.empty()) out += styled("'godwit why' says more", Style::faint, moment.terminal) + "\n";
  return out;
}

// The latest of each kind, and how many there are of it.
std::string warning_lines(const Moment& moment) {
  constexpr std::size_t kMostWarnings = 5;
  struct Kind {
    const journal::Message* latest;
    std::size_t count;
  };
  std::vector<Kind> kinds;
  for (const journal::Message& warning : moment.view().warnings()) {
    const auto like = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return warning.about.empty() ? kind.latest->text == warning.text : kind.latest->about == warning.about;
    });
    if (like == kinds.end())
      kinds.push_back({&warning, 1});
    else
      *like = {&warning, like->count + 1};
  }
  std::string out;
  const std::size_t shown = std::min(kinds.size(), kMostWarnings);
  for (const Kind& kind : std::span(kinds).last(shown)) {
    const std::string more = kind.count == 1 ? "" : fmt::format(" (and {} more like it)", kind.count - 1);
    out +=
        styled(report::printable(fmt::format("warning: {}{}", kind.latest->text, more)), Style::note, moment.terminal) +
        "\n";
  }
  if (kinds.size() > shown)
    out += fmt::format("… and {} before (--json has all)\n", format_count(kinds.size() - shown, "warning"));
  return out;
}

struct CheckpointCounts {
  std::uint64_t kept = 0, kept_bytes = 0, deleted = 0, deleted_bytes = 0;

  explicit CheckpointCounts(const View& view) {
    for (const journal::CheckpointRecord& checkpoint : view.checkpoints()) {
      const bool there = checkpoint.dropped == 0;
      (there ? kept : deleted) += 1;
      (there ? kept_bytes : deleted_bytes) += checkpoint.content.bytes;
    }
  }
};

std::string checkpoints_line(const View& view) {
  const CheckpointCounts counts(view);
  if (counts.kept + counts.deleted == 0) return {};
  std::string line =
      fmt::format("{} kept ({})", format_count(counts.kept, "checkpoint"), format_bytes(counts.kept_bytes));
  if (counts.deleted != 0) line += fmt::format(", {} deleted ({})", counts.deleted, format_bytes(counts.deleted_bytes));
  return line + "\n";
}

std::string render(const Moment& moment) {
  std::string out = headline(moment) + progress_line(moment) + counts_line(moment) + checkpoints_line(moment.view());
  const std::string main = moment.view().runs().empty() ? nodes_table(moment) : runs_table(moment);
  for (const std::string& part :
       {main, steered_lines(moment), sites_table(moment), stuck_lines(moment), warning_lines(moment)})
    if (!part.empty()) out += "\n" + part;
  return out;
}

// --- for programs -----------------------------------------------------------------------------------------------

Json counts_json(const Counts& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < journal::kNodeStates; ++i) json[to_string(static_cast<NodeState>(i))] = counts.of[i];
  return json;
}

Json engine_json(const Moment& moment) {
  const journal::EngineRecord& engine = moment.view().engine();
  Json json{{"state", to_string(moment.engine.state)}};
  if (engine.started != 0) {
    json["user"] = engine.user;
    json["host"] = engine.host;
    json["pid"] = engine.pid;
    json["version"] = engine.version;
    json["started"] = iso_time(engine.started);
    json["last_event"] = iso_time(engine.last_event);
  }
  if (engine.stopped) json["stopped"] = *engine.stopped;
  if (const auto& paused = moment.engine.paused) {
    json["paused"] = paused->text;
    json["paused_since"] = iso_time(paused->time);
  }
  return json;
}

Json last_metrics(const View& view, journal::RunIndex run, std::string_view kind) {
  std::vector<journal::EpochMetrics> epochs = journal::stitch(view, run, kind);
  return epochs.empty() ? Json(nullptr) : std::move(epochs.back().metrics);
}

Json steered_json(const Run& run) {
  if (!run.steered) return nullptr;
  const journal::Steered& steered = *run.steered;
  Json json{{"what", steered.pruned ? "pruned" : "paused"},
            {"by", steered.by},
            {"reason", steered.reason},
            {"time", iso_time(steered.time)}};
  if (steered.epoch != 0) json["epoch"] = steered.epoch;
  if (steered.rung) json["rung"] = *steered.rung;
  return json;
}

Json run_json(const View& view, journal::RunIndex index) {
  const Run& run = view.runs()[index];
  Json values = Json::object();
  for (const auto& [name, value] : run.values) values[name] = value;
  Json sites = Json::array();
  for (const journal::SiteIndex site : view.site_path(run)) sites.push_back(view.site_name(site));
  return {{"number", run.number},
          {"run_uuid", run.uuid},
          {"seed", run.seed},
          {"replicate", run.replicate},
          {"baseline", run.baseline},
          {"pair", run.pair},
          {"values", values},
          {"epochs", run.epochs},
          {"epochs_done", view.epochs_done(run)},
          {"state", to_string(state_of(view, run))},
          {"orphaned", run.orphaned},
          {"steered", steered_json(run)},
          {"sites", sites},
          {"jobs", counts_json(view.counts_of(run))},
          {"metrics", last_metrics(view, index, "train")},
          {"evaluation", last_metrics(view, index, "evaluate")}};
}

Json to_json(const Moment& moment) {
  const View& view = moment.view();
  const journal::Progress progress = view.progress(moment.now, moment.engine.running());
  Json json{{"name", view.dag().name},
            {"file", view.dag().file},
            {"uuid", view.dag().uuid},
            {"engine", engine_json(moment)},
            {"ended", view.ended() ? Json{{"success", view.ended()->success}, {"time", iso_time(view.ended()->time)}}
                                   : Json(nullptr)},
            {"progress",
             {{"done", progress.done},
              {"total", progress.total},
              {"fraction", progress.fraction()},
              {"remaining_s", progress.remaining_s ? Json(*progress.remaining_s) : Json(nullptr)}}},
            {"jobs", counts_json(view.counts())},
            {"sites", Json::array()},
            {"runs", Json::array()},
            {"not_moving", Json::array()},
            {"warnings", Json::array()}};
  for (const journal::Site& site : view.sites())
    json["sites"].push_back({{"name", site.name}, {"definition", site.definition}, {"jobs", counts_json(site.counts)}});
  for (journal::RunIndex i = 0; i < view.runs().size(); ++i) json["runs"].push_back(run_json(view, i));
  const journal::Explainer explainer(view, moment.opened.state, moment.engine, moment.now);
  for (const journal::Explanation& e : explainer.stuck(kMostStuck).all)
    json["not_moving"].push_back(journal::to_json(e));
  const CheckpointCounts checkpoints(view);
  json["checkpoints"] = {{"kept", checkpoints.kept},
                         {"kept_bytes", checkpoints.kept_bytes},
                         {"deleted", checkpoints.deleted},
                         {"deleted_bytes", checkpoints.deleted_bytes}};
  for (const journal::Message& warning : view.warnings()) json["warnings"].push_back(warning.text);
  return json;
}

// --- the command ------------------------------------------------------------------------------------------------

void show(const Opened& opened, const Options& options) {
  const Terminal terminal = terminal_of(stdout);
  const std::size_t rows = options.all ? opened.view.runs().size() + opened.view.nodes().size() : options.rows;
  const Moment moment{opened, opened.engine(), system_clock().now(), terminal, rows};
  if (options.json)
    fmt::print("{}\n", dump(to_json(moment)));
  else
    fmt::print("{}{}", options.watch ? renew_screen(terminal) : "", render(moment));
  flush_output();
}

bool is_over(const Opened& opened) {
  return opened.view.ended().has_value() && !opened.engine().running();
}

// On a terminal the display renews itself; elsewhere it is told again when something has happened.
void watch(Opened& opened, const Options& options) {
  const bool renews = terminal_of(stdout).width != 0 && !options.json;
  while (!is_over(opened)) {
    system_clock().sleep_until(system_clock().monotonic() + static_cast<Micros>(options.interval_s * kSecond));
    const std::size_t news = opened.view.update(*opened.reader);
    if (news != 0 || renews) show(opened, options);
  }
}

int print_status(const Options& options) {
  Opened opened = open_journal(options.file);
  show(opened, options);
  if (options.watch) watch(opened, options);
  return kSuccess;
}

}  // namespace

void add_status(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "status", "Show how far the runs are, and what waits", "godwit status --watch");
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "The experiment (default: experiment.yaml here)")->option_text("FILE");
  command->add_flag("-w,--watch", options->watch, "Show it again as it changes, until the end");
  command->add_option("--interval", options->interval_s, "Seconds between looks of --watch (default: 1)")
      ->check(number_between(0.1, 86400))
      ->option_text("SECONDS");
  command->add_option("--rows", options->rows, "Runs to show at most (default: 40)")
      ->check(whole_number(1))
      ->option_text("N");
  command->add_flag("--all", options->all, "Show all runs");
  command->add_flag("--json", options->json, "Print JSON; with --watch, a line for each change");
  command->callback([&action, options] { action = [options] { return print_status(*options); }; });
}

}  // namespace godwit::cli
