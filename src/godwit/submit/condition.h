// The conditions of `if` and `elif`: `defined NAME`, true, false, yes, no, a number, any of them after `!`.
#pragma once

#include <string_view>

#include "godwit/submit/description.h"

namespace godwit::submit {

// Throws InputError (message and hint, no position) at what is no condition. A condition whose macros expand to
// nothing is false; `defined` wants a value that is not empty. `find` gives raw values by lower-case name.
bool test_condition(std::string_view condition, const Lookup& find);
// The same check for what can be seen before macros have values.
void check_condition(std::string_view condition);

}  // namespace godwit::submit
