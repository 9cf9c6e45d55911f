#include "godwit/base/printable.h"

#include "godwit/base/text.h"

namespace godwit {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = first_bad_utf8(text).value_or(text.size());
    for (std::size_t i = 0; i < good; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      const bool c1 = byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;  // U+0080 to U+009F
      if (byte == '\t')
        result += ' ';
      else if (byte < 0x20 || byte == 0x7F || c1)
        result += kReplacement;
      else
        result += text[i];
      if (c1) ++i;
    }
    text.remove_prefix(good);
    if (!text.empty()) {
      result += kReplacement;
      text.remove_prefix(1);
    }
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (const std::string_view line : split(text, '\n')) {
    if (line.data() != text.data()) result += '\n';
    result += printable(line);
  }
  return result;
}

}  // namespace godwit
