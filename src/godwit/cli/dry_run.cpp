#include "godwit/cli/dry_run.h"

#include <fmt/format.h>

#include "godwit/base/json.h"
#include "godwit/base/units.h"
#include "godwit/engine/plan.h"

namespace godwit::cli {
namespace {

constexpr std::size_t kFirstShown = 20;

class DryRun {
 public:
  explicit DryRun(const Living& living) : living_(living), graph_(living.planned.graph), plan_(graph_) {
    if (living_.before) replay(*living_.before);
  }

  Json json() const {
    const engine::Counts& counts = plan_.counts();
    Json sites = Json::object(), first = Json::array();
    const std::vector<std::size_t> jobs = jobs_per_site();
    for (dag::SiteId site = 0; site < graph_.site_count(); ++site) sites[graph_.sites()[site]] = jobs[site];
    for (const dag::NodeId node : first_to_start())
      first.push_back({{"node", graph_.name_of(node)}, {"site", site_of(node)}});
    return {{"jobs", to_run()},        {"jobs_per_site", sites},  {"first", first},
            {"running", under_way_},   {"done", counts.done},     {"failed", counts.failed},
            {"futile", counts.futile}, {"pruned", counts.pruned}, {"edited", living_.edit.has_value()}};
  }

  void print() const {
    const std::size_t done = plan_.counts().done;
    if (to_run() == 0)
      fmt::print("Nothing would run: {} done.\n", format_count(done, "job"));
    else if (done == 0)
      fmt::print("{} would run:\n", format_count(to_run(), "job"));
    else
      fmt::print("{} would run, {} done already:\n", format_count(to_run(), "job"), done);
    const std::vector<std::size_t> jobs = jobs_per_site();
    for (dag::SiteId site = 0; site < graph_.site_count(); ++site)
      if (jobs[site] != 0) fmt::print("  {:<16} {}\n", graph_.sites()[site], format_count(jobs[site], "job"));
    const std::vector<dag::NodeId> first = first_to_start();
    if (!first.empty()) fmt::print("First:\n");
    for (const dag::NodeId node : first) fmt::print("  {:<24} at {}\n", graph_.name_of(node), site_of(node));
    print_what_does_not();
  }

 private:
  // As an engine that starts would find it.
  void replay(const journal::View& view) {
    for (dag::NodeId node = 0; node < graph_.size(); ++node) {
      const auto known = view.find_node(graph_.name_of(node));
      if (!known) continue;
      switch (view.nodes()[*known].state) {
        case journal::NodeState::done:
          plan_.finish(node);
          break;
        case journal::NodeState::failed:
          plan_.fail(node);
          break;
        case journal::NodeState::pruned:
          plan_.prune(node);
          break;
        case journal::NodeState::queued:
        case journal::NodeState::active:
          if (plan_.state(node) != engine::NodeState::ready) break;
          plan_.mark_running(node);
          ++under_way_;
          break;
        default:
          break;
      }
    }
    for (dag::RunId run = 0; run < graph_.runs().size(); ++run) {
      const auto known = view.run_with_uuid(graph_.runs()[run].uuid);
      const bool steered = known && view.runs()[*known].steered.has_value();
      if (!steered || view.runs()[*known].steered->pruned) continue;
      plan_.hold(run);
      ++paused_runs_;
    }
  }

  std::size_t to_run() const { return plan_.counts().waiting + plan_.counts().ready + plan_.counts().running; }

  std::vector<std::size_t> jobs_per_site() const {
    std::vector<std::size_t> jobs(graph_.site_count());
    for (dag::NodeId node = 0; node < graph_.size(); ++node) {
      const engine::NodeState state = plan_.state(node);
      const bool open = state == engine::NodeState::waiting || state == engine::NodeState::ready ||
                        state == engine::NodeState::running;
      if (open && graph_.kind(node) != dag::NodeKind::service) ++jobs[graph_.planned_site(node)];
    }
    return jobs;
  }

  std::vector<dag::NodeId> first_to_start() const {
    std::vector<dag::NodeId> first;
    for (dag::NodeId node = 0; node < graph_.size() && first.size() < kFirstShown; ++node)
      if (plan_.state(node) == engine::NodeState::ready && !plan_.is_held(node)) first.push_back(node);
    return first;
  }

  const std::string& site_of(dag::NodeId node) const { return graph_.sites()[graph_.planned_site(node)]; }

  void print_what_does_not() const {
    const engine::Counts& counts = plan_.counts();
    if (under_way_ != 0) fmt::print("{} under way already.\n", format_count(under_way_, "job is", "jobs are"));
    if (counts.failed != 0)
      fmt::print("{} failed and {} so, with {} behind {}: 'godwit retry --failed' lets them run again.\n",
                 format_count(counts.failed, "job"), counts.failed == 1 ? "stays" : "stay", counts.futile,
                 counts.failed == 1 ? "it" : "them");
    if (counts.pruned != 0) fmt::print("{} not needed any more.\n", format_count(counts.pruned, "job is", "jobs are"));
    if (paused_runs_ != 0)
      fmt::print("{} paused: 'godwit promote RUN' lets {} go on.\n", format_count(paused_runs_, "run is", "runs are"),
                 paused_runs_ == 1 ? "it" : "them");
    if (living_.edit)
      fmt::print(
          "It was edited since it was started: 'godwit plan' shows what differs, and 'godwit run' asks first.\n");
  }

  const Living& living_;
  const dag::Graph& graph_;
  engine::Plan plan_;
  std::size_t under_way_ = 0;
  std::size_t paused_runs_ = 0;
};

}  // namespace

void print_dry_run(const Living& living, bool as_json) {
  const DryRun dry_run(living);
  if (as_json)
    fmt::print("{}\n", dump(dry_run.json()));
  else
    dry_run.print();
}

}  // namespace godwit::cli
