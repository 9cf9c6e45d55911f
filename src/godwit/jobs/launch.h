// From an attempt in its sandbox to the process that it becomes: argument vector and environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "godwit/jobs/attempt.h"
#include "godwit/jobs/wire.h"

namespace godwit::jobs {

using Environment = std::vector<std::string>;  // "NAME=value"

// What a client brings for its jobs.
struct ClientEnvironment {
  Environment inherited;
  Environment secrets;  // for jobs that name them
};

std::string_view name_of(std::string_view entry);  // before the '='

// This process's own environment.
Environment own_environment();

// `program` is run in `directory`, after the spec's setup lines or else `site_setup`: those are shell; the job itself
// stays an argument vector that no shell reads, and does not begin where those fail. Not slotted.
wire::Launch launch_of(const Attempt& attempt, const std::string& directory, std::string program,
                       const std::vector<std::string>& site_setup);

// The whole environment of the process: the job's own, the secrets that it names, `more`, and what it inherits.
Environment environment_of(const wire::Launch& launch, const ClientEnvironment& client, const Environment& more);

}  // namespace godwit::jobs
