// What Godwit adds to a submit description, so that checkpoints and metrics travel by file transfer alone: the same on
// every executor, and on HTCondor without Godwit.
//
// Jobs find in their environment: GODWIT_RUN, GODWIT_FIRST_EPOCH, GODWIT_LAST_EPOCH, GODWIT_METRICS and, where the
// experiment has a checkpoint, GODWIT_CHECKPOINT, and what trackers read (trackers.h), which the template's own
// environment may change. What W&B wrote offline comes back as runs/<run_uuid>/wandb/, however the job ended. The
// checkpoint of a job comes back as runs/<run_uuid>/checkpoints/<its last epoch>/<path>; the folder's contents are the
// next job's input. Logs go to runs/<run_uuid>/logs unless the template says otherwise.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "godwit/experiment/spec.h"
#include "godwit/submit/description.h"

namespace godwit::experiment {

enum class JobKind : std::uint8_t { train, evaluate };

void add_conventions(submit::Description& description, const ExperimentSpec& spec, JobKind kind);

// Names the experiment's secrets to the executor: `+GodwitSecrets`.
void add_secrets(submit::Description& description, const ExperimentSpec& spec);

// `value`, an `environment` in either quoting, with more variables: `defaults` before its own, which win over them, and
// `variables` after them. "" gives the new quoting.
std::string extend_environment(std::string_view value,
                               const std::vector<std::pair<std::string, std::string>>& variables,
                               const std::vector<std::pair<std::string, std::string>>& defaults = {});

// `value`, a list of "name=target" separated by semicolons in double quotes, with more of them.
std::string extend_remaps(std::string_view value, const std::vector<std::pair<std::string, std::string>>& remaps);

}  // namespace godwit::experiment
