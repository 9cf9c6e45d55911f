// An experiment beside what its journal knows of it: as its files say now, planned as a change of what it was.
#pragma once

#include <optional>

#include "godwit/base/json.h"
#include "godwit/cli/terminal.h"
#include "godwit/engine/edit.h"
#include "godwit/experiment/plan.h"
#include "godwit/journal/view.h"

namespace godwit::cli {

struct Living {
  experiment::Planned planned;
  Json code;                            // of the files that its jobs run and read
  std::optional<journal::View> before;  // where it has been started
  std::optional<engine::Edit> edit;     // where it is not what it was then
  std::string other;                    // the state beside it is of this experiment; empty: it is its own, or none
};

// Throws InputError as experiment::load_and_plan does.
Living load_living(experiment::LoadOptions options);

// Throws InputError where the state beside the experiment is another's.
void require_own_state(const Living& living);

// What an edit changes: the differences, a table of at most `rows` runs and a sentence of counts.
std::string edit_text(const engine::Edit& edit, std::size_t rows, const Terminal& terminal);

}  // namespace godwit::cli
