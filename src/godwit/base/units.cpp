#include "godwit/base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "godwit/base/text.h"

namespace godwit {
namespace {

__extension__ using Wide = __int128;

struct Unit {
  std::string_view name;  // lower case
  std::int64_t factor;
};

// In bytes.
constexpr std::array kSizes = std::to_array<Unit>({
    {"b", 1},
    {"k", 1LL << 10},
    {"kb", 1LL << 10},
    {"kib", 1LL << 10},
    {"m", 1LL << 20},
    {"mb", 1LL << 20},
    {"mib", 1LL << 20},
    {"g", 1LL << 30},
    {"gb", 1LL << 30},
    {"gib", 1LL << 30},
    {"t", 1LL << 40},
    {"tb", 1LL << 40},
    {"tib", 1LL << 40},
    {"p", 1LL << 50},
    {"pb", 1LL << 50},
    {"pib", 1LL << 50},
});

// In seconds.
constexpr std::array kSpans = std::to_array<Unit>({
    {"s", 1},       {"sec", 1},        {"secs", 1},        {"second", 1},   {"seconds", 1},  {"m", 60},
    {"min", 60},    {"mins", 60},      {"minute", 60},     {"minutes", 60}, {"h", 3600},     {"hr", 3600},
    {"hrs", 3600},  {"hour", 3600},    {"hours", 3600},    {"d", 86'400},   {"day", 86'400}, {"days", 86'400},
    {"w", 604'800}, {"week", 604'800}, {"weeks", 604'800},
});

std::optional<std::int64_t> factor_of(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (equal_ignoring_case(unit.name, name)) return unit.factor;
  return std::nullopt;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number without sign or exponent: digits × 10^-places. Few enough digits that products with a unit fit in 128
// bits.
struct Number {
  std::int64_t digits = 0;
  std::int64_t scale = 1;  // 10^places
};

std::optional<Number> take_number(std::string_view& text) {
  Number number;
  int digits = 0;
  bool after_point = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !after_point)); ++i) {
    if (text[i] == '.') {
      after_point = true;
      continue;
    }
    if (++digits > 18) return std::nullopt;
    number.digits = number.digits * 10 + (text[i] - '0');
    if (after_point) number.scale *= 10;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(i);
  return number;
}

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  std::size_t i = 0;
  while (i < text.size() && !is_digit(text[i]) && text[i] != '.' && text[i] != ' ') ++i;
  const std::string_view word = text.substr(0, i);
  text = trim(text.substr(i));
  return word;
}

Wide rounded_up(Wide numerator, Wide denominator) {
  return (numerator + denominator - 1) / denominator;
}

std::optional<std::int64_t> narrow(Wide value) {
  if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// `text` in multiples of `unit` bytes, which is also what a bare number counts.
std::optional<std::int64_t> parse_size(std::string_view text, std::int64_t unit) {
  text = trim(text);
  const std::optional<Number> number = take_number(text);
  if (!number) return std::nullopt;
  const std::string_view word = take_word(text);
  const std::optional<std::int64_t> factor = word.empty() ? unit : factor_of(word, kSizes);
  if (!factor || !text.empty()) return std::nullopt;
  return narrow(rounded_up(Wide{number->digits} * *factor, Wide{number->scale} * unit));
}

// With one decimal where it says something: 128 → "128", 19.53 → "19.5".
std::string one_decimal(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string scaled(double value, std::span<const std::string_view> units) {
  std::size_t i = 0;
  for (; value >= 1023.95 && i + 1 < units.size(); ++i) value /= 1024;
  return one_decimal(value) + ' ' + std::string(units[i]);
}

}  // namespace

std::optional<std::int64_t> parse_memory_mb(std::string_view text) {
  return parse_size(text, 1LL << 20);
}

std::optional<std::int64_t> parse_disk_kb(std::string_view text) {
  return parse_size(text, 1LL << 10);
}

std::optional<std::int64_t> parse_duration_s(std::string_view text) {
  constexpr Wide kOne = 1'000'000'000'000'000'000;  // sums are kept in units of 10^-18 seconds
  text = trim(text);
  Wide total = 0;
  for (bool first = true; first || !text.empty(); first = false) {
    const std::optional<Number> number = take_number(text);
    if (!number) return std::nullopt;
    const std::string_view word = take_word(text);
    const bool bare = word.empty();  // a bare number stands alone
    const std::optional<std::int64_t> factor = bare && first && text.empty() ? 1 : factor_of(word, kSpans);
    if (!factor) return std::nullopt;
    const Wide whole = Wide{number->digits} * *factor;
    if (whole / number->scale > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    total += whole / number->scale * kOne + whole % number->scale * (kOne / number->scale);
    if (total / kOne > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  }
  return narrow(rounded_up(total, kOne));
}

std::string format_memory_mb(std::uint64_t megabytes) {
  static constexpr std::array<std::string_view, 4> kUnits{"MB", "GB", "TB", "PB"};
  return scaled(static_cast<double>(megabytes), kUnits);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "KB", "MB", "GB", "TB", "PB"};
  return scaled(static_cast<double>(bytes), kUnits);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 59.95) return one_decimal(seconds) + " s";
  static constexpr std::array kUnits = std::to_array<Unit>({{"d", 86'400}, {"h", 3600}, {"min", 60}, {"s", 1}});
  const double rounded = std::min(std::round(seconds), 1e15);
  auto left = static_cast<std::int64_t>(rounded);
  std::size_t first = 0;
  while (left < kUnits[first].factor) ++first;
  std::string out = fmt::format("{} {}", left / kUnits[first].factor, kUnits[first].name);
  left %= kUnits[first].factor;
  if (first + 1 == kUnits.size()) return out;
  const Unit& next = kUnits[first + 1];
  if (left >= next.factor) out += fmt::format(" {} {}", left / next.factor, next.name);
  return out;
}

std::string format_age(double seconds) {
  if (seconds < 1) return "less than 1 s";
  return seconds < 60 ? fmt::format("{:.0f} s", std::floor(seconds)) : format_duration(std::floor(seconds));
}

std::string format_count(std::uint64_t count, std::string_view noun, std::string_view plural) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  digits += ' ';
  if (count == 1) return digits.append(noun);
  return plural.empty() ? digits.append(noun).append("s") : digits.append(plural);
}

}  // namespace godwit
