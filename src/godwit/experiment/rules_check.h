// Whether the rules for runs can be met by the runs that there are.
#pragma once

#include "godwit/base/error.h"
#include "godwit/experiment/runs.h"
#include "godwit/experiment/spec.h"

namespace godwit::experiment {

// Faults, and what will come to nothing, go to `diagnostics`. There are runs.
void check_rules(const ExperimentSpec& spec, const RunList& runs, Diagnostics& diagnostics);

}  // namespace godwit::experiment
