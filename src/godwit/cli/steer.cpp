// godwit pause, promote, prune: which training runs go on, by hand.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/text.h"
#include "godwit/cli/command.h"
#include "godwit/cli/opened.h"
#include "godwit/journal/state_dir.h"

namespace godwit::cli {
namespace {

using journal::NodeState;
using journal::Run;
using journal::View;

struct Options {
  std::vector<std::string> runs;
  std::string file;
  bool json = false;
};

// One of the three commands.
struct Steer {
  const char* name;
  const char* summary;
  const char* example;
  // What keeps it from making sense for a run: a message and a hint; throws InputError.
  void (*check)(const View& view, const Run& run);
  const char* now;    // what is told, after the runs' names: an engine is at work
  const char* later;  // … or none is
};

std::string name_of(const Run& run) {
  return fmt::format("run{}", run.number);
}

// The run that a word means. Throws InputError where it means none.
const Run& run_named(const View& view, const std::string& word) {
  if (const auto run = view.find_run(word)) return view.runs()[*run];
  if (const auto node = view.find_node(word); node && view.nodes()[*node].run != journal::kNone)
    throw InputError(fmt::format("'{}' is a job, and runs are steered as a whole", word),
                     "its run is " + name_of(view.runs()[view.nodes()[*node].run]));
  std::vector<std::string> names;
  for (const Run& run : view.runs()) {
    names.push_back(name_of(run));
    names.push_back(run.uuid);
  }
  std::string hint = did_you_mean(word, names);
  if (hint.empty())
    hint = names.empty() ? "this workflow has no training runs" : "'godwit status --all' lists the runs";
  throw InputError(fmt::format("there is no run '{}'", word), hint);
}

// It has training jobs to come.
void check_goes_on(const View& view, const Run& run) {
  const std::string name = name_of(run);
  if (run.orphaned) throw InputError(name + " is no part of the experiment any more", "an edit took it away");
  if (run.steered && run.steered->pruned)
    throw InputError(fmt::format("{} was pruned at epoch {}: {}", name, run.steered->epoch, run.steered->reason),
                     "what it had reached is kept; it does not go on");
  const journal::Counts counts = view.counts_of(run);
  if (counts[NodeState::failed] != 0)
    throw InputError(name + " has failed, so it does not go on by itself",
                     fmt::format("'godwit why {0}' says why, 'godwit retry {0}' runs it again", name));
  const bool training = std::any_of(run.nodes.begin(), run.nodes.end(), [&](journal::NodeIndex node) {
    return view.text(view.nodes()[node].kind) == "train" && view.nodes()[node].state != NodeState::done;
  });
  if (!training) throw InputError(name + " has finished its training", "there is nothing left to steer");
}

void check_pause(const View& view, const Run& run) {
  check_goes_on(view, run);
  if (run.paused_by_hand)
    throw InputError(name_of(run) + " is paused already", fmt::format("godwit promote {}", name_of(run)));
}

void check_promote(const View& view, const Run& run) {
  check_goes_on(view, run);
  if (!run.steered)
    throw InputError(name_of(run) + " is not paused", "only a run that is paused, by hand or at a rung, is promoted");
}

constexpr Steer kPause{"pause",
                       "Let runs wait after their running job; 'godwit promote' lets them go on",
                       "godwit pause run3",
                       check_pause,
                       "paused: what runs ends, nothing more of it begins",
                       "paused at the next 'godwit run'"};
constexpr Steer kPromote{"promote",
                         "Let paused runs go on, whether by hand or by successive halving",
                         "godwit promote run3",
                         check_promote,
                         "promoted: the next job begins as soon as there is a place",
                         "promoted at the next 'godwit run'"};
constexpr Steer kPrune{"prune",
                       "End runs where they are: their jobs to come are not run, their checkpoints stay",
                       "godwit prune run3 run5",
                       check_goes_on,
                       "pruned: a running job leaves, those to come are not run",
                       "pruned at the next 'godwit run'"};

int steer(const Steer& what, const Options& options) {
  const Opened opened = open_journal(options.file);
  std::vector<const Run*> runs;
  for (const std::string& word : options.runs) {
    const Run& run = run_named(opened.view, word);
    what.check(opened.view, run);
    if (std::find(runs.begin(), runs.end(), &run) == runs.end()) runs.push_back(&run);
  }
  std::vector<std::string> names, uuids;
  for (const Run* run : runs) {
    names.push_back(name_of(*run));
    uuids.push_back(run->uuid);
  }
  journal::drop_request(opened.state, {{"what", what.name}, {"runs", uuids}});
  const bool engine = opened.engine().running();
  if (options.json) {
    Json list = Json::array();
    for (const Run* run : runs) list.push_back({{"number", run->number}, {"run_uuid", run->uuid}});
    fmt::print("{}\n", dump(Json{{"what", what.name}, {"runs", list}, {"engine_running", engine}}));
  } else {
    fmt::print("{} {} {}.\n", join(names, ", "), names.size() == 1 ? "is" : "are", engine ? what.now : what.later);
  }
  return kSuccess;
}

void add(CLI::App& root, Action& action, const Steer& what) {
  CLI::App* command = add_command(root, what.name, what.summary, what.example);
  auto options = std::make_shared<Options>();
  command->add_option("runs", options->runs, "Runs, by number, name or uuid: 3, run3, d35b3ea9")
      ->type_name("RUN")
      ->required();
  command->add_option("--experiment", options->file, "The experiment's file or folder (default: here)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options, &what] { action = [options, &what] { return steer(what, *options); }; });
}

}  // namespace

void add_pause(CLI::App& root, Action& action) {
  add(root, action, kPause);
}

void add_promote(CLI::App& root, Action& action) {
  add(root, action, kPromote);
}

void add_prune(CLI::App& root, Action& action) {
  add(root, action, kPrune);
}

}  // namespace godwit::cli
