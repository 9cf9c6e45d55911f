// godwit debug: a node's sandbox as its attempt sees it, and a shell in it.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/text.h"
#include "godwit/cli/command.h"
#include "godwit/cli/living.h"
#include "godwit/engine/attempt_builder.h"
#include "godwit/experiment/secrets.h"
#include "godwit/jobs/workbench.h"
#include "godwit/journal/state_dir.h"

namespace godwit::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  experiment::LoadOptions load;
  std::string node;
  std::vector<std::string> command;
  bool keep = false;
  bool json = false;
};

struct Subject {
  jobs::Attempt attempt;
  std::vector<std::string> setup;  // of its site
};

// Finished or begun: the latest attempt; else the next.
std::uint32_t attempt_of(const Living& living, const std::string& name) {
  if (!living.before) return 1;
  const auto index = living.before->find_node(name);
  if (!index) return 1;
  const journal::Node& node = living.before->nodes()[*index];
  const bool waits = node.state == journal::NodeState::waiting || node.state == journal::NodeState::ready;
  return std::max(1u, node.attempts + (waits ? 1u : 0u));
}

[[noreturn]] void no_such_node(const dag::Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (dag::NodeId node = 0; node < graph.size() && names.size() < 200'000; ++node)
    names.emplace_back(graph.name_of(node));
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "nodes are named like run0-train_epoch0; 'godwit plan --json' lists them";
  throw InputError(fmt::format("there is no node '{}'", name), hint);
}

Subject subject_of(const Living& living, const std::string& name) {
  const dag::Graph& graph = living.planned.graph;
  const auto node = graph.find(name);
  if (!node) no_such_node(graph, name);
  if (graph.kind(*node) == dag::NodeKind::noop) throw InputError(fmt::format("{} runs nothing", name));
  const dag::SiteId site_id = graph.planned_site(*node);
  const sites::Site& site = living.planned.sites[site_id];
  if (!site.runnable())
    throw InputError(fmt::format("{} runs at {}, whose jobs are not started on this machine", name, site.name),
                     fmt::format("its executor is {}", site.executor));
  const std::string dag_uuid = living.before ? living.before->dag().uuid : std::string(32, '0');
  const engine::AttemptBuilder builder(graph, dag_uuid);
  const jobs::Phase phase = graph.kind(*node) == dag::NodeKind::service ? jobs::Phase::service : jobs::Phase::job;
  return {builder.job(*node, site_id, attempt_of(living, name), phase), site.setup};
}

// What comes in but is not there yet, because the jobs before have not made it.
std::vector<std::string> missing_inputs(const jobs::JobSpec& spec) {
  std::vector<std::string> missing;
  for (const jobs::InputFile& input : spec.inputs) {
    if (input.source.find("://") != std::string::npos) continue;
    const fs::path path = fs::path(spec.directory) / input.source;
    if (!fs::exists(path)) missing.push_back(input.source);
  }
  return missing;
}

// Jobs of the run that begin with a checkpoint which is there still.
std::vector<std::string> begin_with_kept(const journal::View& view, journal::RunIndex run) {
  std::vector<std::string> names;
  for (const journal::NodeIndex node : view.runs()[run].nodes) {
    const journal::CheckpointRecord* left = view.checkpoint_of(node);
    if (left == nullptr || left->dropped != 0) continue;
    for (const journal::NodeIndex child : view.children(node)) names.emplace_back(view.name_of(child));
  }
  return names;
}

// Where the checkpoint that the node begins with is there no more, because the experiment does not keep it.
void require_kept(const journal::View& view, const std::string& name) {
  constexpr std::size_t kMostNamed = 5;
  const auto node = view.find_node(name);
  if (!node) return;
  for (const journal::NodeIndex parent : view.parents(*node)) {
    const journal::CheckpointRecord* left = view.checkpoint_of(parent);
    if (left == nullptr || left->dropped == 0) continue;
    std::vector<std::string> others = begin_with_kept(view, view.nodes()[*node].run);
    if (others.size() > kMostNamed) others.resize(kMostNamed);
    throw InputError(
        fmt::format("{} begins with the checkpoint of {} (epoch {}), which was deleted: `keep` does not keep it", name,
                    view.name_of(parent), left->epoch),
        fmt::format("{}for the next time keep more of them: 'keep: {{last: 3}}' or 'keep: {{every: {}}}'",
                    others.empty() ? "" : fmt::format("those of {} are there; ", join(others, ", ")), left->epoch));
  }
}

void require_inputs(const Living& living, const std::string& node, const jobs::JobSpec& spec) {
  const std::vector<std::string> missing = missing_inputs(spec);
  if (missing.empty()) return;
  if (living.before) require_kept(*living.before, node);
  throw InputError(fmt::format("the inputs of {} are not there yet: {}", node, join(missing, ", ")),
                   fmt::format("'godwit why {}' says what it waits for", node));
}

Json to_json(const Subject& subject, const jobs::Workbench& bench) {
  const jobs::JobSpec& spec = *subject.attempt.spec;
  Json environment = Json::object();
  for (const auto& [name, value] : spec.environment) environment[name] = value;
  Json inputs = Json::array();
  for (const jobs::InputFile& input : spec.inputs) inputs.push_back(input.source);
  return {{"node", subject.attempt.key.node},
          {"attempt", subject.attempt.key.attempt},
          {"site", subject.attempt.site},
          {"folder", bench.folder()},
          {"command", bench.command()},
          {"setup", spec.setup.empty() ? subject.setup : spec.setup},
          {"environment", environment},
          {"secrets", spec.secrets},
          {"inputs", inputs},
          {"missing", missing_inputs(spec)},
          {"continues_attempt", bench.has_spool()}};
}

std::vector<std::string> command_of(const Options& options) {
  if (!options.command.empty()) return options.command;
  if (isatty(STDIN_FILENO) != 1)
    throw InputError("there is no terminal for a shell", fmt::format("godwit debug {} -- ls -l", options.node));
  const char* shell = std::getenv("SHELL");
  return {shell != nullptr && shell[0] == '/' ? shell : "/bin/bash"};
}

// The person at the terminal interrupts what runs there, not us: the sandbox is still to be removed.
int run_in(const jobs::Workbench& bench, const std::vector<std::string>& command, const experiment::Secrets& secrets) {
  const jobs::Workbench::Process process = bench.process(command, secrets);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const pid_t child = fork();
  if (child < 0) throw SystemError("cannot make a process", errno);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGQUIT, SIG_DFL);
    process.become();
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int debug(const Options& options) {
  const Living living = load_living(options.load);
  require_own_state(living);
  const Subject subject = subject_of(living, options.node);
  const journal::StateDir state = journal::StateDir::beside(living.planned.spec.file);
  jobs::Workbench bench(state.path(), subject.attempt, subject.setup);
  if (options.json) {
    fmt::print("{}\n", dump(to_json(subject, bench), 2));
    return kSuccess;
  }
  const std::vector<std::string> command = command_of(options);
  const experiment::Secrets secrets = experiment::find_secrets(living.planned.spec);
  require_inputs(living, options.node, *subject.attempt.spec);
  bench.build();
  fmt::print(stderr, "{}, attempt {}, at {}: {}\nIts command is: {}\n", options.node, subject.attempt.key.attempt,
             subject.attempt.site, bench.folder(), bench.command_line());
  std::fflush(stderr);
  const int code = run_in(bench, command, secrets);
  if (options.keep) {
    bench.keep();
    fmt::print(stderr, "Kept: {}\n", bench.folder());
  } else {
    bench.remove();
  }
  return code;
}

}  // namespace

void add_debug(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "debug", "Open a shell in a node's sandbox, rebuilt as its attempt sees it",
                                  "godwit debug run3-train_epoch2 -- ls -l");
  auto options = std::make_shared<Options>();
  command->add_option("node", options->node, "The node, such as run0-train_epoch1")->option_text("NODE")->required();
  command
      ->add_option("command", options->command, "What to run instead of a shell, after --; its exit code is godwit's")
      ->option_text("COMMAND...");
  command->add_option("--experiment", options->load.file, "The experiment's file or folder (default: here)")
      ->type_name("FILE");
  command->add_option("--sites", options->load.sites_file, "The sites (default: beside the experiment)")
      ->type_name("FILE");
  auto* keep = command->add_flag("--keep", options->keep, "Leave the sandbox there afterwards");
  command->add_flag("--json", options->json, "Print what the sandbox and the job would be; make and run nothing")
      ->excludes(keep);
  command->callback([&action, options] { action = [options] { return debug(*options); }; });
}

}  // namespace godwit::cli
