// From what the supervisor saw to how the attempt ended, with a sentence for people. Pure.
#pragma once

#include <string>

#include "godwit/jobs/attempt.h"
#include "godwit/jobs/wire.h"

namespace godwit::jobs {

// Of an attempt that was canceled while it waited.
inline constexpr const char* kWithdrawn = "told to leave before it started";

// Knows nothing of files: missing outputs and full disks are found when the outputs are brought back.
Ending classify(const wire::Exit& exit, const JobSpec& spec);

// Whether it went wrong, as against being told to leave, checkpointing or vanishing.
bool went_wrong(const Ending& ending);

}  // namespace godwit::jobs
