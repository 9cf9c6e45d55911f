<<<<<<< HEAD
// The options of every command that reads an experiment.
=======
// What commands that take an experiment have in common.
>>>>>>> 8003abd (Run, stop and retry experiments from the command line)
#pragma once

#include <CLI/CLI.hpp>

#include "godwit/experiment/plan.h"
<<<<<<< HEAD

namespace godwit::cli {

// FILE, --sites and --limit.
=======
#include "godwit/journal/state_dir.h"

namespace godwit::cli {

// The positional FILE, --sites and --limit.
>>>>>>> 8003abd (Run, stop and retry experiments from the command line)
void add_experiment_options(CLI::App& command, experiment::LoadOptions& options);

}  // namespace godwit::cli
