// The commands of the submit language that people write, to tell a slip of the pen from a macro of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace godwit::submit {

bool is_command(std::string_view lower_case_key);
// The command that a key which is none was probably meant to be.
std::optional<std::string> nearest_command(std::string_view key);

}  // namespace godwit::submit
