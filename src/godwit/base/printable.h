// Text from outside, made fit for a terminal or a picture.
#pragma once

#include <string>
#include <string_view>

namespace godwit {

// Control characters (escape sequences too) and bytes that are not UTF-8 become U+FFFD, tabulators blanks.
std::string printable(std::string_view text);
// The same line by line.
std::string printable_lines(std::string_view text);

}  // namespace godwit
