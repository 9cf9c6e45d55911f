// What the last rehearsal of an experiment left to be known.
#pragma once

#include <optional>
#include <string>

#include "godwit/base/json.h"
#include "godwit/cli/terminal.h"
#include "godwit/experiment/forecast.h"
#include "godwit/journal/state_dir.h"

namespace godwit::cli {

// The file that keeps it.
std::string rehearsal_record(const journal::StateDir& state);

// What the experiment will take, where it was rehearsed.
std::optional<experiment::Forecast> forecast_of(const experiment::Planned& planned);

std::string forecast_text(const experiment::Forecast& forecast, const Terminal& terminal);

}  // namespace godwit::cli
