// From a journal's view to what a comparison needs: the only place here that knows the journal.
#pragma once

#include <string_view>

#include "godwit/journal/view.h"
#include "godwit/report/experiment.h"

namespace godwit::report {

// Metrics and epoch times are stitched as journal/stitch.h says, but epochs under 3 s that tell no time share their
// attempt's wall time, since the engine reads lines too seldom to time them. Every number of a line is a metric, other
// than "epoch", "step", "seconds" and what begins with an underscore.
// `declared_now`: how the experiment's file says now that runs will be compared, as the journal keeps it; where it
// differs from what was journalled last, it is one more declaration.
Experiment read_experiment(const journal::View& view, const Json& declared_now);
Experiment read_experiment(const journal::View& view);

}  // namespace godwit::report
