// What the commands that look at an experiment begin with: its state directory and its journal, replayed.
#pragma once

#include <memory>
#include <string>

#include "godwit/journal/engine_status.h"
#include "godwit/journal/journal.h"
#include "godwit/journal/state_dir.h"
#include "godwit/journal/view.h"

namespace godwit::cli {

struct Opened {
  journal::StateDir state;
  std::unique_ptr<journal::Reader> reader;
  journal::View view;

  journal::EngineStatus engine() const { return journal::engine_status(state, view); }
};

// The state of an experiment's or workflow's file, or folder; empty: of the current directory. Where it has been run
// the file itself may be gone or broken. Throws InputError where there is neither.
journal::StateDir find_state(const std::string& file);

// Throws InputError, too, where it has not been run, or where the state is of another file.
Opened open_journal(const std::string& file);

// "there is no node or run 'run0-trian_epoch0'" with the nearest name.
[[noreturn]] void no_such_node(const journal::View& view, const std::string& name, bool runs_too);

}  // namespace godwit::cli
