// A word that an engine leaves beside its journal while the journal itself cannot be written, because the disk is full:
// for those who look. The file is made when there is room and always has the same size, so that it needs none later.
#pragma once

#include <optional>
#include <string>

#include "godwit/journal/view.h"

namespace godwit::journal {

// With the time; empty: nothing is to be said. Does nothing where it cannot be written.
void write_pause_note(const std::string& path, const std::string& text);

// What was left, if anything.
std::optional<Message> read_pause_note(const std::string& path);

}  // namespace godwit::journal
