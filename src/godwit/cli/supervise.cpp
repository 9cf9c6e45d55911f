#include <memory>
#include <string>

#include "godwit/cli/command.h"
#include "godwit/jobs/supervisor.h"

namespace godwit::cli {
namespace {

struct Options {
  std::string state_dir;
  jobs::SupervisorOptions supervisor;
};

}  // namespace

// Hidden: the local executor starts it, people do not.
void add_supervise(CLI::App& root, Action& action) {
  CLI::App* command =
      add_command(root, "supervise", "Become the process that local jobs belong to", "godwit supervise .godwit");
  command->group("");
  auto options = std::make_shared<Options>();
  command->add_option("dir", options->state_dir, "The experiment's state directory")->required();
  command->add_option("--idle", options->supervisor.idle_s, "End after so many seconds without jobs and clients");
  command->callback(
      [&action, options] { action = [options] { return jobs::supervise(options->state_dir, options->supervisor); }; });
}

}  // namespace godwit::cli
