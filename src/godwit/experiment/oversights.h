// What an experiment may say but hardly means: warnings.
#pragma once

#include "godwit/base/error.h"
#include "godwit/experiment/runs.h"
#include "godwit/experiment/site_choice.h"
#include "godwit/experiment/spec.h"

namespace godwit::experiment {

void warn_of_oversights(const ExperimentSpec& spec, const SiteChoice& choice, const RunList& runs,
                        Diagnostics& diagnostics);

}  // namespace godwit::experiment
