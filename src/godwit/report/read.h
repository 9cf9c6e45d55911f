// From a journal's view to what a comparison needs: the only place here that knows the journal.
#pragma once

#include "godwit/journal/view.h"
#include "godwit/report/experiment.h"

namespace godwit::report {

// Metrics and epoch times are stitched as journal/stitch.h says. Every number of a line is a metric, other than
// "epoch", "step", "seconds" and what begins with an underscore.
Experiment read_experiment(const journal::View& view);

}  // namespace godwit::report
