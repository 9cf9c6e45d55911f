// The options of every command that reads an experiment.
#pragma once

#include <CLI/CLI.hpp>

#include "godwit/experiment/plan.h"

namespace godwit::cli {

// FILE, --sites and --limit.
void add_experiment_options(CLI::App& command, experiment::LoadOptions& options);

}  // namespace godwit::cli
