// godwit run --dry-run: what would run, from where the experiment stands.
#pragma once

#include "godwit/cli/living.h"

namespace godwit::cli {

// Prints it, as text or as one line of JSON.
void print_dry_run(const Living& living, bool as_json);

}  // namespace godwit::cli
