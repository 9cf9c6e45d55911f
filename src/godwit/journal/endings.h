// How an attempt ended, in words, and what to do about it: the rule table behind `godwit why`.
#pragma once

#include <string>

#include "godwit/journal/view.h"

namespace godwit::journal {

struct EndingWords {
  std::string what;    // "the program ended with exit code 3": a clause without full stop
  std::string advice;  // what to do; empty where there is nothing to do
};

// For an attempt that has ended. An outcome of a later version is named as it is.
EndingWords explain_ending(const View& view, const Attempt& attempt);

// For the attempt at which a node failed. `reason`: the node's. An ending that is continued fails only when the
// attempts before got nowhere either.
EndingWords explain_failure(const View& view, const Attempt& attempt, std::string_view reason);

// "exit code 3", "signal 11 (SIGSEGV)", "out of memory": for tables.
std::string short_ending(const View& view, const Attempt& attempt);

}  // namespace godwit::journal
