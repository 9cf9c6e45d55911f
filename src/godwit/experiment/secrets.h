// Variables whose values no file of the experiment may hold: `secrets: [WANDB_API_KEY]`.
//
// The values come from the environment of the person who runs, or else from a file of their own, readable by nobody
// else: lines NAME=value in $XDG_CONFIG_HOME/godwit/secrets. They go to the supervisor over its socket and from there
// into the environment of the jobs, and are on no disk in between. Messages name variables and lines, never values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "godwit/experiment/spec.h"

namespace godwit::experiment {

using Secrets = std::vector<std::pair<std::string, std::string>>;

// Whether a process may have a variable of this name: letters, digits and '_', no digit first.
bool legal_variable_name(std::string_view name);

// The values of the experiment's secrets, in its order. Throws InputError that names all that are missing, and where
// the file may be read by others or is malformed.
Secrets find_secrets(const ExperimentSpec& spec);

// A secrets file's content. Blank lines and lines that begin with # are passed over; a value is everything after the
// first '=', without one pair of quotes around it.
Secrets read_secrets(std::string_view text, const std::string& file);

}  // namespace godwit::experiment
