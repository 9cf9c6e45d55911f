// Whether a run's epochs follow from each other: by what each epoch's line tells of the checkpoint that it began with,
// the one it left, the state of random numbers and the order of the data.
#pragma once

#include "godwit/report/experiment.h"

namespace godwit::report {

// Fills Run::faults. Runs without records have none: nothing is known of them.
//
//   gapped    no record of an epoch before the last recorded one
//   replayed  its checkpoint, or its state of random numbers, or its order of data, is that of an earlier epoch; of the
//             latter two only where they change from epoch to epoch otherwise
//   forked    it began with another checkpoint than the epoch before it left, or with none; where jobs do not tell what
//             they left: from some epoch on two runs that differed before begin with the same checkpoint
//   unpaired  another order of data than the same epoch of a baseline run with the same pair
void find_faults(Experiment& experiment);

}  // namespace godwit::report
