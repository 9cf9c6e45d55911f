#include "godwit/cli/opened.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/base/text.h"
#include "godwit/experiment/plan.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;

// Where looking through names for a similar one ends to be quick.
constexpr std::size_t kMostCandidates = 200'000;

[[noreturn]] void no_such_file(const std::string& file) {
  std::vector<std::string> beside;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(journal::StateDir::beside(file).folder(), error))
    beside.push_back(entry.path().filename().string());
  throw InputError(fmt::format("there is no file '{}'", file),
                   did_you_mean(fs::path(file).filename().string(), beside));
}

// Two experiments in one folder would share its state; the engine refuses that, so the state is of one of them.
void require_same_experiment(const std::string& file, const journal::View& view) {
  const std::string of = fs::path(view.dag().file).filename().string();
  if (file.empty() || fs::is_directory(file) || of.empty() || of == fs::path(file).filename().string()) return;
  if (!fs::exists(file)) no_such_file(file);
  throw InputError(fmt::format("'{}' has not been run: the state beside it is of {}", file, of),
                   "an experiment of its own needs a folder of its own");
}

}  // namespace

journal::StateDir find_state(const std::string& file) {
  journal::StateDir state = journal::StateDir::beside(file);
  if (state.has_journal()) return state;
  if (!file.empty() && !fs::exists(file)) no_such_file(file);
  return journal::StateDir::beside(experiment::find_experiment(file));
}

Opened open_journal(const std::string& file) {
  const journal::StateDir state = find_state(file);
  if (!state.has_journal())
    throw InputError(fmt::format("nothing has been run yet: there is no journal in {}", state.path()),
                     "start with: godwit run");
  Opened opened{state, journal::Reader::open(state.journal()), {}};
  opened.view.update(*opened.reader);
  require_same_experiment(file, opened.view);
  return opened;
}

void no_such_node(const journal::View& view, const std::string& name, bool runs_too) {
  std::vector<std::string> names;
  if (runs_too)
    for (const journal::Run& run : view.runs()) {
      names.push_back(fmt::format("run{}", run.number));
      names.push_back(run.uuid);
    }
  for (journal::NodeIndex node = 0; node < view.nodes().size() && names.size() < kMostCandidates; ++node)
    names.emplace_back(view.name_of(node));
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "'godwit status' lists the runs; nodes are named like run0-train_epoch0";
  throw InputError(fmt::format("there is no node{} '{}'", runs_too ? " or run" : "", name), hint);
}

}  // namespace godwit::cli
