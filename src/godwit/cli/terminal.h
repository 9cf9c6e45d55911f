// Where a command's text goes: whether colours are welcome there, and how wide it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace godwit::cli {

struct Terminal {
  bool colours = false;
  std::size_t width = 0;  // in columns; 0: not a terminal, nothing is cut
};

// Colours: on a terminal that is not "dumb", with NO_COLOR unset or empty (no-color.org).
Terminal terminal_of(std::FILE* stream);

enum class Style : std::uint8_t { plain, strong, faint, good, busy, bad, note };

// The text in its style, unchanged where the terminal wants no colours.
std::string styled(std::string_view text, Style style, const Terminal& terminal);

// "██████░░░░": `fraction` between 0 and 1.
std::string progress_bar(double fraction, std::size_t columns);

// What has been printed to standard output goes out now. Throws SystemError where it cannot.
void flush_output();

// Moves to the upper left corner and clears what is below: for displays that renew themselves.
std::string renew_screen(const Terminal& terminal);

}  // namespace godwit::cli
