// The shell lines that prepare a site for a job ("module load …"), run in the shell that then becomes the job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "godwit/jobs/wire.h"

namespace godwit::jobs {

// The lines run before the launch's program, whatever comes of them.
void prepend_setup(const std::vector<std::string>& lines, wire::Launch& launch);

// The program does not begin where a command of the lines fails, or where they exit: then the shell ends with the
// command's exit code. `sandbox`: where it leaves a note of that; empty: nowhere. What fails inside a script that the
// lines source is the script's affair (those of conda and of environment modules fail here and there), and so is what
// they test or put before ||.
void prepend_checked_setup(const std::vector<std::string>& lines, const std::string& sandbox, wire::Launch& launch);

// What the note in the sandbox says: "the setup of its site failed with exit code 127: module load python". Nothing
// where there is none.
std::optional<std::string> failed_setup(const std::string& sandbox);

}  // namespace godwit::jobs
