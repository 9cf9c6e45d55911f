// From what the supervisor saw to how the attempt ended, with a sentence for people. Pure.
#pragma once

#include <string>

#include "godwit/jobs/attempt.h"
#include "godwit/jobs/wire.h"

namespace godwit::jobs {

// Knows nothing of files: missing outputs and full disks are found when the outputs are brought back.
Ending classify(const wire::Exit& exit, const JobSpec& spec);

// Whether the attempt ended before its work was done, so that its checkpoint files matter.
bool ended_early(const Ending& ending);
// Whether it went wrong, as against being told to leave, checkpointing or vanishing.
bool went_wrong(const Ending& ending);

}  // namespace godwit::jobs
