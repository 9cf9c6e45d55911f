#include "godwit/report/format.h"

#include <fmt/format.h>

#include <cmath>

namespace godwit::report {
namespace {

constexpr std::string_view kMinus = "\xE2\x88\x92";

std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::fabs(value), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !zero ? std::string(kMinus) + text : text;
}

int exponent_of(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::fabs(value))));
}

bool plain(double value) {
  return value == 0 || (std::fabs(value) >= 1e-4 && std::fabs(value) < 1e6);
}

}  // namespace

std::string format_number(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "infinite" : std::string(kMinus) + "infinite";
  if (plain(value)) return fixed(value, std::max(0, 3 - exponent_of(value)));
  const std::string text = fmt::format("{:.3e}", std::fabs(value));
  return value < 0 ? std::string(kMinus) + text : text;
}

std::string format_signed(double value) {
  const std::string text = format_number(value);
  return value > 0 ? "+" + text : text;
}

std::string format_number(double value, double spread) {
  if (!std::isfinite(value) || !std::isfinite(spread) || spread <= 0 || !plain(spread) || std::fabs(value) >= 1e6)
    return format_number(value);
  return fixed(value, std::max(0, 1 - exponent_of(spread)));
}

std::string format_signed(double value, double spread) {
  const std::string text = format_number(value, spread);
  return value > 0 ? "+" + text : text;
}

std::string format_mean_sd(double mean, double sd) {
  if (sd == 0) return fmt::format("{} ± 0", format_number(mean));
  if (!plain(mean)) return fmt::format("{} ± {}", format_number(mean), format_number(sd));
  return fmt::format("{} ± {}", format_number(mean, sd), format_number(sd, sd));
}

std::string escape_xml(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::size_t text_columns(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++columns;
  return columns;
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (text_columns(text) <= columns) return std::string(text);
  std::size_t kept = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins && ++kept == columns) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace godwit::report
