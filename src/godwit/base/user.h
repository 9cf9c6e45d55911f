// Who runs this process.
#pragma once

#include <string>

namespace godwit {

// The name of the effective user, or its number where the system knows no name.
std::string user_name();

}  // namespace godwit
