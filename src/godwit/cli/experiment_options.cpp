#include "godwit/cli/experiment_options.h"

#include "godwit/cli/checked.h"

namespace godwit::cli {

void add_experiment_options(CLI::App& command, experiment::LoadOptions& options) {
  command.add_option("FILE", options.file, "The experiment, or its folder (default: experiment.yaml here)");
  command
      .add_option("--sites", options.sites_file,
                  "The sites (default: sites.yaml or resources.yaml beside the experiment)")
      ->type_name("FILE");
  command.add_option("--limit", options.limit, "The most jobs that the sweep may make")
      ->type_name("N")
      ->check(whole_number(1))
      ->capture_default_str();
}

}  // namespace godwit::cli
