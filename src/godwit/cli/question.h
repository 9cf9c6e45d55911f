// Asking the person at the terminal.
#pragma once

#include <string_view>

namespace godwit::cli {

// Whether somebody is there to answer: standard input and standard error are terminals.
bool can_ask();

// Puts the question, with " [y/N] " behind it, on standard error; true where the answer begins with y or Y.
bool ask(std::string_view question);

}  // namespace godwit::cli
