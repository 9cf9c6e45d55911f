#include "godwit/cli/landscape.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <utility>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/base/units.h"
#include "godwit/engine/scoring.h"
#include "godwit/experiment/plan.h"
#include "godwit/experiment/secrets.h"
#include "godwit/jobs/local_executor.h"
#include "godwit/journal/log_files.h"
#include "godwit/journal/metrics.h"
#include "godwit/sites/machine.h"
#include "godwit/store/atomic_file.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;
using report::Comparison;

// Beyond this, reading all the checkpoints twice or so is asked for first.
constexpr std::uintmax_t kReadUnasked = 512u << 20;

constexpr std::string_view kSuffix = ".safetensors";

// Where the runs' last checkpoints are.
class Checkpoints {
 public:
  Checkpoints(const Opened& opened, const Comparison& comparison, std::string path)
      : folder_(opened.state.folder()), runs_(comparison.experiment.runs), path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // The folder of the run's last job that left one.
  std::optional<std::string> folder_of(std::size_t run) const {
    const auto& jobs = runs_[run].jobs;
    for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
      fs::path place = fs::path(folder_) / journal::checkpoint_folder(runs_[run].uuid, job->last_epoch);
      if (fs::is_regular_file(place / path_)) return place;
    }
    return std::nullopt;
  }

  std::optional<std::string> file_of(std::size_t run) const {
    const auto folder = folder_of(run);
    return folder ? std::optional<std::string>(fs::path(*folder) / path_) : std::nullopt;
  }

  std::uintmax_t bytes_to_read(const std::vector<report::RunPair>& pairs) const {
    std::uintmax_t bytes = 0;
    for (const report::RunPair& pair : pairs)
      for (const std::size_t run : {pair.a, pair.b})
        if (const auto file = file_of(run)) bytes += fs::file_size(*file);
    return bytes;
  }

 private:
  std::string folder_;
  const std::vector<report::Run>& runs_;
  std::string path_;
};

std::string checkpoint_path(const Opened& opened) {
  const fs::path file = fs::path(opened.state.folder()) / fs::path(opened.view.dag().file).filename();
  if (file.extension() != ".yaml" || !fs::is_regular_file(file)) return {};
  Diagnostics others;  // are told by the commands that run something
  return experiment::load_spec(file, others).checkpoint.path;
}

std::string why_no_weights(const Checkpoints& checkpoints) {
  if (checkpoints.path().empty()) return "the experiment names no checkpoint";
  if (!checkpoints.path().ends_with(kSuffix)) return fmt::format("'{}' is no {} file", checkpoints.path(), kSuffix);
  return {};
}

void look_at_weights(report::Landscape& landscape, const Comparison& comparison, const Checkpoints& checkpoints,
                     bool asked) {
  landscape.no_distances = why_no_weights(checkpoints);
  if (!landscape.no_distances.empty()) return;
  const std::uintmax_t bytes = checkpoints.bytes_to_read(report::pairs_to_look_at(comparison));
  if (!asked && bytes > kReadUnasked) {
    landscape.no_distances = fmt::format("{} would have to be read; --weights does", format_bytes(bytes));
    return;
  }
  try {
    landscape.distances =
        report::measure_distances(comparison, [&](std::size_t run) { return checkpoints.file_of(run); });
  } catch (const Error& error) {
    landscape.no_distances = error.what();
  }
}

// --- barriers -----------------------------------------------------------------------------------------------------

std::atomic<bool> interrupted{false};
extern "C" void on_interrupt(int) {
  interrupted = true;
}

// While it lives, SIGINT and SIGTERM are remembered instead of ending the process.
class Patience {
 public:
  Patience() { install(on_interrupt); }
  ~Patience() { install(SIG_DFL); }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  static void install(void (*handler)(int)) {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, handler);
  }
};

// Each run's last evaluation job, by uuid.
std::map<std::string, dag::NodeId> last_evaluations(const dag::Graph& graph) {
  std::map<std::string, dag::NodeId> found;
  for (dag::NodeId node = 0; node < graph.size(); ++node) {
    if (graph.kind(node) != dag::NodeKind::evaluate || graph.run_of(node) == dag::kNoRun) continue;
    const auto [place, fresh] = found.try_emplace(graph.runs()[graph.run_of(node)].uuid, node);
    if (!fresh && epoch_of(graph, node, "last_epoch") > epoch_of(graph, place->second, "last_epoch"))
      place->second = node;
  }
  return found;
}

// Where the evaluation can run here: its own site where that is this machine, else the first that is.
std::optional<dag::SiteId> local_site(const experiment::Planned& planned, dag::NodeId node) {
  const auto fits = [&](std::size_t site) {
    return planned.sites[site].executor == "local" &&
           planned.graph.description(node, static_cast<dag::SiteId>(site)) != nullptr;
  };
  const dag::SiteId own = planned.graph.planned_site(node);
  if (fits(own)) return own;
  for (std::size_t site = 0; site < planned.sites.size(); ++site)
    if (fits(site)) return static_cast<dag::SiteId>(site);
  return std::nullopt;
}

std::unique_ptr<jobs::JobExecutor> executor_here(const experiment::Planned& planned, const fs::path& folder) {
  jobs::LocalExecutorOptions local;
  local.state_dir = folder;
  local.secrets = experiment::find_secrets(planned.spec);
  const sites::Machine machine = sites::this_machine();
  for (const sites::Site& site : planned.sites) {
    const sites::Offer offer = sites::offer_of(site, machine);
    local.sites.push_back({site.name, offer.slots, offer.cpus, offer.memory_mb, offer.gpus, site.setup});
  }
  return jobs::make_local_executor(std::move(local));
}

// Writes what lies between two runs' checkpoints. Files that are no weights are the first run's.
void write_between(const fs::path& from, const fs::path& to, double place, const fs::path& into) {
  fs::create_directories(into);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from)) {
    const fs::path relative = fs::relative(entry.path(), from);
    if (entry.is_directory()) {
      fs::create_directories(into / relative);
    } else if (relative.extension() == kSuffix && fs::is_regular_file(to / relative)) {
      const std::string bytes =
          ml::interpolate(read_file(entry.path()), entry.path(), read_file(to / relative), to / relative, place);
      store::write_file(into / relative, bytes, store::Durability::process);
    } else {
      fs::copy_file(entry.path(), into / relative, fs::copy_options::overwrite_existing);
    }
  }
}

// The evaluations of all lines, point by point.
class Lines {
 public:
  Lines(const Opened& opened, const Comparison& comparison, const Checkpoints& checkpoints, std::size_t points)
      : planned_(experiment::load_and_plan(
            {.file = fs::path(opened.state.folder()) / fs::path(opened.view.dag().file).filename(), .sites_file = {}})),
        comparison_(comparison),
        checkpoints_(checkpoints),
        points_(points),
        folder_(fs::path(opened.state.path()) / "barrier") {}

  // Why nothing can be done; empty where something can.
  std::string prepare() {
    if (!planned_.spec.evaluation) return "the experiment has no evaluation";
    const auto evaluations = last_evaluations(planned_.graph);
    for (const report::RunPair& pair : report::pairs_to_look_at(comparison_)) {
      const auto node = evaluations.find(comparison_.experiment.runs[pair.a].uuid);
      if (node == evaluations.end() || !checkpoints_.folder_of(pair.a) || !checkpoints_.folder_of(pair.b)) continue;
      const auto site = local_site(planned_, node->second);
      if (!site) return "no site of the experiment runs its evaluation on this machine";
      lines_.push_back({pair, node->second, *site});
    }
    return lines_.empty() ? "no two runs to compare have an evaluation and their last checkpoints" : "";
  }

  // The scores, points_ of them for each line.
  std::vector<engine::Score> evaluate() {
    const Patience patience;
    fs::remove_all(folder_ / "between");
    fs::remove_all(folder_ / "logs");
    fs::create_directories(folder_ / "logs");
    std::vector<engine::ScoreRequest> requests;
    for (const Line& line : lines_)
      for (std::size_t i = 0; i < points_; ++i) requests.push_back(request_of(line, i));
    const auto executor = executor_here(planned_, folder_);
    engine::Scorer scorer(planned_.graph, *executor, folder_ / "logs");
    const bool live = isatty(STDERR_FILENO) == 1;
    auto scores = scorer.run(requests, [&](std::size_t ended) {
      if (live) fmt::print(stderr, "\r{} of {} evaluations between checkpoints ", ended, requests.size());
      return !interrupted.load();
    });
    if (live) fmt::print(stderr, "\r\x1b[K");
    fs::remove_all(folder_ / "between");
    if (interrupted) throw Interrupted{};
    return scores;
  }

  // What the lines are by the scores, and why some are missing.
  std::pair<std::vector<report::Barrier>, std::string> read(const std::vector<engine::Score>& scores,
                                                            const std::string& metric) const {
    std::vector<report::Barrier> found;
    std::string failure;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      report::Barrier barrier{lines_[l].runs, {}, 0};
      for (std::size_t i = 0; i < points_; ++i) {
        const engine::Score& score = scores[l * points_ + i];
        const auto value = value_of(score, metric);
        if (value)
          barrier.line.emplace_back(place_of(i), *value);
        else if (failure.empty())
          failure = fmt::format("{}: {}", name_of(lines_[l], i),
                                score.failure.empty() ? "no finite value of " + metric : score.failure);
      }
      if (barrier.line.size() == points_) found.push_back(std::move(barrier));
    }
    return {std::move(found), failure};
  }

  static std::optional<double> value_of(const engine::Score& score, const std::string& metric) {
    for (auto line = score.lines.rbegin(); line != score.lines.rend(); ++line)
      if (const auto member = line->find(metric); member != line->end()) {
        const auto value = journal::metric_value(*member);
        return value && std::isfinite(*value) ? value : std::nullopt;
      }
    return std::nullopt;
  }

 private:
  struct Line {
    report::RunPair runs;
    dag::NodeId node = 0;
    dag::SiteId site = 0;
  };

  double place_of(std::size_t point) const { return static_cast<double>(point) / static_cast<double>(points_ - 1); }

  std::string name_of(const Line& line, std::size_t point) const {
    const auto& runs = comparison_.experiment.runs;
    return fmt::format("run{}-run{}-{}", runs[line.runs.a].number, runs[line.runs.b].number, point);
  }

  engine::ScoreRequest request_of(const Line& line, std::size_t point) const {
    const std::string name = name_of(line, point);
    const fs::path into = folder_ / "between" / name;
    write_between(*checkpoints_.folder_of(line.runs.a), *checkpoints_.folder_of(line.runs.b), place_of(point), into);
    return {line.node, line.site, name, into};
  }

  experiment::Planned planned_;
  const Comparison& comparison_;
  const Checkpoints& checkpoints_;
  std::size_t points_;
  fs::path folder_;
  std::vector<Line> lines_;
};

// What the evaluations reported, of what the experiment is compared by, and which way is better.
struct ScoredMetric {
  std::string name;
  Goal goal = Goal::lowest;
};

std::optional<ScoredMetric> choose_metric(const Comparison& comparison, const std::vector<engine::Score>& scores) {
  constexpr std::string_view kPrefix = "eval.";
  const auto reported = [&](const std::string& name) {
    return std::any_of(scores.begin(), scores.end(),
                       [&](const engine::Score& score) { return Lines::value_of(score, name).has_value(); });
  };
  const report::Metric& primary = comparison.metrics[comparison.primary];
  const std::string bare = primary.evaluation ? primary.name.substr(kPrefix.size()) : primary.name;
  if (reported(bare)) return ScoredMetric{bare, primary.goal};
  for (const report::Metric& metric : comparison.metrics)
    if (metric.evaluation && reported(metric.name.substr(kPrefix.size())))
      return ScoredMetric{metric.name.substr(kPrefix.size()), metric.goal};
  return std::nullopt;
}

void look_between(report::Landscape& landscape, const Opened& opened, const Comparison& comparison,
                  const Checkpoints& checkpoints, std::size_t points) {
  landscape.no_barriers = why_no_weights(checkpoints);
  if (!landscape.no_barriers.empty()) return;
  Lines lines(opened, comparison, checkpoints, points);
  landscape.no_barriers = lines.prepare();
  if (!landscape.no_barriers.empty()) return;
  const std::vector<engine::Score> scores = lines.evaluate();
  const auto metric = choose_metric(comparison, scores);
  if (!metric) {
    const std::string& why = scores.front().failure;
    landscape.no_barriers = why.empty() ? "the evaluation reports no metric" : "the evaluation failed: " + why;
    return;
  }
  auto [found, failure] = lines.read(scores, metric->name);
  landscape.no_barriers = failure;
  if (!found.empty())
    landscape.barriers = report::measure_barriers(std::move(found), metric->name, metric->goal == Goal::highest);
}

}  // namespace

report::Landscape survey(const Opened& opened, const Comparison& comparison, const LandscapeOptions& options) {
  report::Landscape landscape;
  const Checkpoints checkpoints(opened, comparison, checkpoint_path(opened));
  look_at_weights(landscape, comparison, checkpoints, options.weights || options.barrier);
  if (options.barrier) look_between(landscape, opened, comparison, checkpoints, options.points);
  return landscape;
}

}  // namespace godwit::cli
