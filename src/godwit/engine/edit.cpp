#include "godwit/engine/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/engine/definition.h"

namespace godwit::engine {

using journal::NodeState;
using journal::View;

namespace {

// Keys of the experiment that say which runs there are and how they are looked at, not what their jobs do.
bool is_about_runs(std::string_view path) {
  static constexpr std::string_view kPrefix = "experiment.";
  if (!path.starts_with(kPrefix)) return false;
  path.remove_prefix(kPrefix.size());
  const std::string_view key = path.substr(0, path.find('.'));
  for (const std::string_view known : {"name", "vars", "include", "exclude", "epochs", "epochs_per_job", "replicates",
                                       "baseline", "seed", "compare", "rehearse", "keep", "early_stop", "asha"})
    if (key == known) return true;
  return key.starts_with("x-");
}

// The values of one set of runs, to say what is new in a run of another.
class Values {
 public:
  template <typename Runs>
  explicit Values(const Runs& runs) {
    for (const auto& run : runs) add(run);
  }

  // What of the run is nowhere among these, in words that begin with the thing: "alpha = 0.3".
  template <typename Run>
  std::string missing(const Run& run) const {
    for (const auto& [name, value] : run.values) {
      const auto found = values_.find(name);
      if (found == values_.end()) return fmt::format("variable {}", name);
      if (!found->second.contains(value)) return fmt::format("{} = {}", name, value);
    }
    // Where these have a variable that the run has not, the other side says it.
    if (values_.size() > run.values.size()) return {};
    if (!replicates_.contains(run.replicate)) return fmt::format("replicate {}", run.replicate);
    if (run.baseline && !baseline_) return "the baseline";
    return {};
  }

 private:
  void add(const journal::Run& run) {
    if (!run.orphaned) add_values(run);
  }
  void add(const dag::Run& run) { add_values(run); }
  template <typename Run>
  void add_values(const Run& run) {
    for (const auto& [name, value] : run.values) values_[name].insert(value);
    replicates_.insert(run.replicate);
    baseline_ = baseline_ || run.baseline;
  }

  std::map<std::string, std::set<std::string>> values_;
  std::set<std::uint32_t> replicates_;
  bool baseline_ = false;
};

std::vector<Difference> code_differences(const View& before, const Json& code) {
  std::vector<Difference> out;
  if (before.code().empty() && before.source().is_null()) return out;  // a journal that does not say
  const auto by_file = [](const auto& list) {
    std::map<std::string, const Json*> files;
    for (const Json& file : list) files.emplace(file.at("file").template get<std::string>(), &file);
    return files;
  };
  const auto size = [](const Json& file) { return format_bytes(file.at("bytes").get<std::uint64_t>()); };
  const auto had = by_file(before.code()), has = by_file(code);
  for (const auto& [name, file] : has) {
    const auto old = had.find(name);
    if (old == had.end())
      out.push_back({name, "", size(*file), {}});
    else if (old->second->at("digest") != file->at("digest"))
      out.push_back({name, size(*old->second), size(*file), {}});
  }
  for (const auto& [name, file] : had)
    if (!has.contains(name)) out.push_back({name, size(*file), "", {}});
  return out;
}

class Comparer {
 public:
  Comparer(const View& before, const dag::Graph& after, const Json& source, const Json& code)
      : before_(before), after_(after), had_(before.runs()), has_(after.runs()) {
    edit_.revision = before.dag().revision;
    if (!before.source().is_null()) edit_.definition = differences(before.source(), source);
    edit_.code = code_differences(before, code);
  }

  Edit compare() {
    read_nodes();
    std::vector<bool> wanted(before_.runs().size(), false);
    for (dag::RunId run = 0; run < after_.runs().size(); ++run) {
      const auto known = before_.run_with_uuid(after_.runs()[run].uuid);
      if (known) wanted[*known] = true;
      edit_.runs.push_back(compare_run(after_.runs()[run], runs_[run], known));
    }
    for (journal::RunIndex run = 0; run < wanted.size(); ++run)
      if (!wanted[run] && !before_.runs()[run].orphaned) edit_.runs.push_back(orphan(before_.runs()[run]));
    std::sort(edit_.runs.begin(), edit_.runs.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return std::move(edit_);
  }

 private:
  // What the new definition comes to in a run.
  struct NewRun {
    std::uint32_t epochs = 0;
    std::size_t to_run = 0;                       // jobs that are not done
    std::size_t moved = 0, recut = 0, fresh = 0;  // of them: at another site, with other epochs, new ones
    std::string moved_from, moved_to;
  };

  void read_nodes() {
    runs_.resize(after_.runs().size());
    std::set<journal::NodeIndex> kept;
    for (dag::NodeId node = 0; node < after_.size(); ++node) {
      const auto known = before_.find_node(after_.name_of(node));
      const journal::Node* old = known ? &before_.nodes()[*known] : nullptr;
      if (known) wanted_nodes_.push_back(*known);
      if (after_.kind(node) == dag::NodeKind::service) continue;
      const bool done = old != nullptr && (old->state == NodeState::done || old->state == NodeState::pruned);
      if (!done) ++edit_.jobs_to_run;
      if (old != nullptr && old->state == NodeState::failed) ++edit_.failed;
      if (after_.run_of(node) != dag::kNoRun) read_node(node, old, done);
    }
    std::sort(wanted_nodes_.begin(), wanted_nodes_.end());
    for (journal::NodeIndex node = 0; node < before_.nodes().size(); ++node) {
      const NodeState state = before_.nodes()[node].state;
      const bool runs = state == NodeState::queued || state == NodeState::active;
      if (runs && !std::binary_search(wanted_nodes_.begin(), wanted_nodes_.end(), node)) ++edit_.leaving;
    }
  }

  void read_node(dag::NodeId node, const journal::Node* old, bool done) {
    NewRun& run = runs_[after_.run_of(node)];
    const std::uint32_t last = last_epoch(node);
    if (after_.kind(node) == dag::NodeKind::train) run.epochs = std::max(run.epochs, last);
    if (done) return;
    ++run.to_run;
    if (old == nullptr || old->orphaned) {
      ++run.fresh;
      return;
    }
    const std::string& site = after_.sites()[after_.planned_site(node)];
    if (before_.site_name(old->site) != site) {
      if (run.moved++ == 0) run.moved_from = before_.site_name(old->site), run.moved_to = site;
    }
    if (old->last_epoch != last) ++run.recut;
  }

  std::uint32_t last_epoch(dag::NodeId node) const { return epoch_of(after_, node, "last_epoch"); }

  RunEdit compare_run(const dag::Run& run, const NewRun& now, std::optional<journal::RunIndex> known) const {
    RunEdit out{run.number, run.uuid, run.baseline, run.values, Fate::kept, 0, 0, now.epochs, {}};
    if (!known) {
      out.fate = Fate::added;
      out.why = new_because(run);
      return out;
    }
    const journal::Run& old = before_.runs()[*known];
    out.epochs_before = old.epochs;
    out.epochs_done = before_.epochs_done(old);
    std::vector<std::string> why;
    if (old.orphaned) {
      out.fate = Fate::returned;
      why.emplace_back("the experiment had it before");
    } else if (now.epochs != old.epochs) {
      out.fate = now.epochs > old.epochs ? Fate::extended : Fate::shortened;
      why.push_back(fmt::format("{} epochs instead of {}", now.epochs, old.epochs));
    }
    for (std::string& reason : job_changes(now)) why.push_back(std::move(reason));
    if (out.fate == Fate::kept && !why.empty()) out.fate = Fate::changed;
    out.why = join(why, "; ");
    return out;
  }

  // What is different about the jobs that the run still has to run.
  std::vector<std::string> job_changes(const NewRun& now) const {
    std::vector<std::string> why;
    if (now.to_run == 0) return why;
    if (now.moved != 0)
      why.push_back(fmt::format("{} at another site ({} → {}{})", format_count(now.moved, "job"), now.moved_from,
                                now.moved_to, now.moved > 1 ? ", …" : ""));
    if (now.recut != 0) why.push_back(fmt::format("{} with other epochs", format_count(now.recut, "job")));
    if (const std::string what = changed_for_jobs(); !what.empty() && now.to_run != now.fresh)
      why.push_back(fmt::format("{} to come {} the changed {}", format_count(now.to_run, "job"),
                                now.to_run == 1 ? "uses" : "use", what));
    return why;
  }

  // The keys and files that jobs are made of and that changed.
  std::string changed_for_jobs() const {
    std::vector<std::string> what;
    const auto add = [&](std::string name) {
      if (std::find(what.begin(), what.end(), name) == what.end()) what.push_back(std::move(name));
    };
    for (const Difference& difference : edit_.definition) {
      if (is_about_runs(difference.path)) continue;
      const std::string_view path = difference.path;
      if (path.starts_with("sites"))
        add("sites");
      else
        add(std::string(path.substr(path.find('.') + 1, path.find('.', path.find('.') + 1) - path.find('.') - 1)));
    }
    for (const Difference& file : edit_.code) add(file.path);
    constexpr std::size_t kMostNamed = 3;
    if (what.size() > kMostNamed) {
      what.resize(kMostNamed);
      what.emplace_back("…");
    }
    return join(what, ", ");
  }

  std::string new_because(const dag::Run& run) const {
    if (seed_changed()) return "the seed is another";
    const std::string what = had_.missing(run);
    return what.empty() ? "a new combination" : what + " is new";
  }

  RunEdit orphan(const journal::Run& run) const {
    RunEdit out{run.number, run.uuid, run.baseline, run.values, Fate::orphaned, before_.epochs_done(run), run.epochs,
                0,          {}};
    const std::string what = has_.missing(run);
    out.why = seed_changed() ? "the seed is another" : what.empty() ? "its combination is gone" : what + " is gone";
    if (out.epochs_done != 0) out.why += "; what it made is kept";
    return out;
  }

  bool seed_changed() const {
    return std::any_of(edit_.definition.begin(), edit_.definition.end(),
                       [](const Difference& difference) { return difference.path == "experiment.seed"; });
  }

  const View& before_;
  const dag::Graph& after_;
  Values had_, has_;
  Edit edit_;
  std::vector<NewRun> runs_;
  std::vector<journal::NodeIndex> wanted_nodes_;
};

Json to_json(const Difference& difference) {
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  Json json{{"path", difference.path}, {"before", text(difference.before)}, {"after", text(difference.after)}};
  if (!difference.lines.empty()) json["lines"] = difference.lines;
  return json;
}

}  // namespace

std::string_view to_string(Fate fate) {
  constexpr std::array<std::string_view, kFates> kNames{"kept", "changed",  "extended", "shortened",
                                                        "new",  "returned", "orphaned"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::size_t Edit::count(Fate fate) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const RunEdit& run) { return run.fate == fate; }));
}

bool is_edit(const View& before, const dag::Graph& after, const Json& code) {
  if (before.dag().digest != digest(after)) return true;
  return !code_differences(before, code).empty();
}

Edit compare_definitions(const View& before, const dag::Graph& after, const Json& source, const Json& code) {
  return Comparer(before, after, source, code).compare();
}

Json to_json(const Edit& edit) {
  Json json{{"revision", edit.revision},       {"definition", Json::array()},
            {"code", Json::array()},           {"counts", Json::object()},
            {"jobs_to_run", edit.jobs_to_run}, {"failed", edit.failed},
            {"leaving", edit.leaving},         {"runs", Json::array()}};
  for (const Difference& difference : edit.definition) json["definition"].push_back(to_json(difference));
  for (const Difference& difference : edit.code) json["code"].push_back(to_json(difference));
  for (std::size_t i = 0; i < kFates; ++i) {
    const auto fate = static_cast<Fate>(i);
    json["counts"][std::string(to_string(fate))] = edit.count(fate);
  }
  for (const RunEdit& run : edit.runs) {
    Json values = Json::object();
    for (const auto& [name, value] : run.values) values[name] = value;
    json["runs"].push_back({{"number", run.number},
                            {"run_uuid", run.uuid},
                            {"baseline", run.baseline},
                            {"values", std::move(values)},
                            {"fate", to_string(run.fate)},
                            {"epochs_done", run.epochs_done},
                            {"epochs_before", run.epochs_before},
                            {"epochs_now", run.epochs_now},
                            {"why", run.why}});
  }
  return json;
}

}  // namespace godwit::engine
