// Names that nobody has used before.
#pragma once

#include <string>

namespace godwit {

// 32 lower-case hex digits, random (RFC 9562 version 4 without its hyphens).
std::string new_uuid();

}  // namespace godwit
