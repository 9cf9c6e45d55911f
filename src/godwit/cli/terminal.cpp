#include "godwit/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

#include "godwit/base/error.h"

namespace godwit::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::size_t width_of(int fd) {
  struct winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualWidth;
}

// SGR parameters (ECMA-48, 8.3.117).
std::string_view parameters(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::strong:
      return "1";
    case Style::faint:
      return "2";
    case Style::good:
      return "32";
    case Style::busy:
      return "36";
    case Style::bad:
      return "31";
    case Style::note:
      return "33";
  }
  return "";
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const int fd = ::fileno(stream);
  if (::isatty(fd) == 0) return {};
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return {!dumb && !is_set("NO_COLOR"), width_of(fd)};
}

std::string styled(std::string_view text, Style style, const Terminal& terminal) {
  if (!terminal.colours || style == Style::plain || text.empty()) return std::string(text);
  std::string out = "\x1b[";
  out.append(parameters(style)).append("m").append(text).append("\x1b[0m");
  return out;
}

std::string progress_bar(double fraction, std::size_t columns) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  // Full only when all is done.
  const auto filled = static_cast<std::size_t>(std::floor(clamped * static_cast<double>(columns)));
  std::string bar;
  for (std::size_t i = 0; i < columns; ++i) bar += i < filled ? "█" : "░";
  return bar;
}

void flush_output() {
  if (std::fflush(stdout) != 0) throw SystemError("cannot write to standard output", errno);
}

std::string renew_screen(const Terminal& terminal) {
  return terminal.width == 0 ? std::string() : std::string("\x1b[H\x1b[J");
}

}  // namespace godwit::cli
