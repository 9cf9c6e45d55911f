#include "godwit/dag/write.h"

#include <fmt/format.h>

#include <memory>

#include "godwit/base/json.h"
#include "godwit/base/printable.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/base/version.h"
#include "godwit/cli/checked.h"
#include "godwit/cli/command.h"
#include "godwit/cli/experiment_options.h"
#include "godwit/cli/living.h"
#include "godwit/experiment/folders.h"
#include "godwit/experiment/trackers.h"

namespace godwit::cli {
namespace {

struct Options {
  experiment::LoadOptions load;
  std::string folder;
  bool submit_files = false;
  bool json = false;
};

std::string secret_names(const experiment::ExperimentSpec& spec) {
  std::vector<std::string> names;
  for (const experiment::Reference& secret : spec.secrets) names.push_back(secret.name);
  return join(names, ",");
}

int write_dag(const Options& options) {
  const experiment::Planned planned = load_living(options.load).planned;
  experiment::make_mlflow_runs(planned.spec, planned.graph);
  dag::WriteOptions write;
  write.submit_files = options.submit_files;
  write.comment = fmt::format("Written by godwit {} from {}.", kVersion,
                              std::filesystem::path(planned.spec.file).filename().string());
  const dag::Written written = dag::write(planned.graph, options.folder, write);
  const std::filesystem::path folders = std::filesystem::path(written.dag_file).replace_extension(".folders");
  const std::uint64_t folder_count = experiment::write_folders(planned, folders);
  if (options.json) {
    fmt::print("{}\n", dump({{"dag_file", written.dag_file.string()},
                             {"folders_file", folders.string()},
                             {"bytes", written.bytes},
                             {"nodes", planned.graph.size()},
                             {"notes", written.notes}}));
    return kSuccess;
  }
  fmt::print("wrote {} ({}, {})\n", written.dag_file.string(), format_count(planned.graph.size(), "node"),
             format_bytes(written.bytes));
  for (const std::string& note : written.notes) fmt::print("note: {}\n", printable(note));
  const std::string secrets = secret_names(planned.spec);
  if (!secrets.empty())
    fmt::print("note: the values of {} come from your environment: condor_submit_dag -include_env {}\n", secrets,
               secrets);
  fmt::print("\nNext, on an access point:\n");
  fmt::print("  (cd {} && xargs mkdir -p) < {}   # {} for logs and results: HTCondor makes none\n",
             shell_word(planned.spec.directory), shell_word(folders.string()), format_count(folder_count, "folder"));
  fmt::print("  cd {} && condor_submit_dag {}\n", shell_word(written.dag_file.parent_path().string()),
             shell_word(written.dag_file.filename().string()));
  return kSuccess;
}

}  // namespace

void add_dag(CLI::App& root, Action& action) {
  CLI::App* command = add_command(root, "dag", "Write the experiment as files for HTCondor's DAGMan",
                                  "godwit dag -o dag && cd dag && condor_submit_dag *.dag");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->load);
  command->add_option("-o,--output", options->folder, "Where to write; made where missing")
      ->type_name("DIR")
      ->check(not_empty())
      ->required();
  command->add_flag("--submit-files", options->submit_files,
                    "Submit descriptions as files of their own, for HTCondor before 24.1");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&action, options] { action = [options] { return write_dag(*options); }; });
}

}  // namespace godwit::cli
