#include "godwit/base/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

namespace godwit {
namespace {

using Coefficient = Decimal::Coefficient;

constexpr int kPowers = 39;  // 10^38 is the largest power of ten in 128 bits

constexpr std::array<Coefficient, kPowers> make_powers() {
  std::array<Coefficient, kPowers> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<Coefficient, kPowers> kPower = make_powers();

Coefficient magnitude(Coefficient value) {
  return value < 0 ? -value : value;
}

int digits_of(Coefficient value) {
  const Coefficient positive = magnitude(value);
  return static_cast<int>(std::upper_bound(kPower.begin(), kPower.end(), positive) - kPower.begin());
}

std::string digits_text(Coefficient positive) {
  std::string digits;
  do digits += static_cast<char>('0' + static_cast<int>(positive % 10));
  while ((positive /= 10) != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Two numbers as multiples of the same power of ten.
struct Aligned {
  Coefficient a;
  Coefficient b;
  int exponent;
};

Coefficient scaled(Coefficient value, int powers) {
  if (value == 0) return 0;
  Coefficient out = 0;
  if (powers >= kPowers || __builtin_mul_overflow(value, kPower[powers], &out)) throw DecimalOverflow();
  return out;
}

Aligned align(Coefficient a, int a_exponent, Coefficient b, int b_exponent) {
  // Zero has no digits to keep, so the other's exponent will do.
  if (a == 0) a_exponent = b_exponent;
  if (b == 0) b_exponent = a_exponent;
  const int exponent = std::min(a_exponent, b_exponent);
  return {scaled(a, a_exponent - exponent), scaled(b, b_exponent - exponent), exponent};
}

}  // namespace

DecimalOverflow::DecimalOverflow()
    : Error(fmt::format("a number needs more than {} digits", Decimal::kMostDigits), "use fewer digits") {}

Decimal::Decimal(Coefficient coefficient, int exponent) : coefficient_(coefficient), exponent_(exponent) {
  if (coefficient == 0) {
    exponent_ = 0;
    return;
  }
  for (; coefficient_ % 10 == 0; coefficient_ /= 10) ++exponent_;
  const bool fits = coefficient_ < kPower[kMostDigits] && coefficient_ > -kPower[kMostDigits];
  if (!fits || std::abs(exponent_) > kMostExponent) throw DecimalOverflow();
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Coefficient coefficient = 0;
  int exponent = 0;
  bool any = false;
  bool after_point = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !after_point)); ++i) {
    if (text[i] == '.') {
      after_point = true;
      continue;
    }
    any = true;
    if (after_point) --exponent;
    // Zeros at the end may go beyond the digits that fit; others may not.
    if (coefficient < kPower[kMostDigits])
      coefficient = coefficient * 10 + (text[i] - '0');
    else if (text[i] == '0')
      ++exponent;
    else
      return std::nullopt;
  }
  if (!any) return std::nullopt;
  text.remove_prefix(i);
  if (!text.empty()) {
    if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
    text.remove_prefix(1);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    int written = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), written);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (std::abs(static_cast<long>(written)) > kMostExponent) return std::nullopt;
    exponent += written;
  }
  try {
    return Decimal(negative ? -coefficient : coefficient, exponent);
  } catch (const DecimalOverflow&) {
    return std::nullopt;
  }
}

Decimal Decimal::rounded(double value, int digits) {
  if (!std::isfinite(value)) throw DecimalOverflow();
  return parse(fmt::format("{:.{}e}", value, std::clamp(digits, 1, 17) - 1)).value();
}

std::string Decimal::text() const {
  const std::string digits = digits_text(magnitude(coefficient_));
  const int count = static_cast<int>(digits.size());
  const int point = count + exponent_;  // digits before the decimal point; n in ECMA-262's Number::toString
  std::string out = is_negative() ? "-" : "";
  if (point > 0 && point <= 21) {
    if (point >= count) return out + digits + std::string(static_cast<std::size_t>(point - count), '0');
    return out + digits.substr(0, static_cast<std::size_t>(point)) + '.' +
           digits.substr(static_cast<std::size_t>(point));
  }
  if (point > -6 && point <= 0) return out + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  out += digits[0];
  if (count > 1) out += '.' + digits.substr(1);
  return out + fmt::format("e{:+}", point - 1);
}

double Decimal::value() const {
  const std::string shown =
      fmt::format("{}{}e{}", is_negative() ? "-" : "", digits_text(magnitude(coefficient_)), exponent_);
  return std::strtod(shown.c_str(), nullptr);  // from_chars gives no value where it overflows; this gives ±HUGE_VAL
}

std::optional<std::int64_t> Decimal::integer() const {
  if (exponent_ < 0 || digits_of(coefficient_) + exponent_ > 19) return std::nullopt;
  const Coefficient whole = scaled(coefficient_, exponent_);
  if (whole > std::numeric_limits<std::int64_t>::max() || whole < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

Decimal operator+(const Decimal& a, const Decimal& b) {
  const Aligned aligned = align(a.coefficient_, a.exponent_, b.coefficient_, b.exponent_);
  Coefficient sum = 0;
  if (__builtin_add_overflow(aligned.a, aligned.b, &sum)) throw DecimalOverflow();
  return {sum, aligned.exponent};
}

Decimal Decimal::operator-() const {
  Decimal negated = *this;
  negated.coefficient_ = -negated.coefficient_;
  return negated;
}

Decimal operator-(const Decimal& a, const Decimal& b) {
  return a + -b;
}

Decimal operator*(const Decimal& a, const Decimal& b) {
  Coefficient product = 0;
  if (__builtin_mul_overflow(a.coefficient_, b.coefficient_, &product)) throw DecimalOverflow();
  return {product, a.exponent_ + b.exponent_};
}

Decimal Decimal::divided_by(std::int64_t divisor) const {
  constexpr int kDigits = 15;
  if (divisor <= 0) throw std::invalid_argument("Decimal::divided_by: the divisor must be positive");
  // Long division until there is a digit more than is kept; what is left over then only decides about ties.
  const Coefficient dividend = magnitude(coefficient_);
  Coefficient quotient = dividend / divisor;
  Coefficient rest = dividend % divisor;
  int exponent = exponent_;
  for (; rest != 0 && quotient < kPower[kDigits]; --exponent) {
    quotient = quotient * 10 + rest * 10 / divisor;
    rest = rest * 10 % divisor;
  }
  if (const int surplus = digits_of(quotient) - kDigits; surplus > 0) {
    const Coefficient unit = kPower[surplus];
    const Coefficient cut = quotient % unit;
    quotient /= unit;
    exponent += surplus;
    const bool above = cut * 2 > unit || (cut * 2 == unit && (rest != 0 || quotient % 2 != 0));
    if (above) ++quotient;
  }
  return {is_negative() ? -quotient : quotient, exponent};
}

Decimal::Quotient Decimal::quotient(const Decimal& part) const {
  if (part > *this) return {0, is_zero()};
  const Aligned aligned = align(coefficient_, exponent_, part.coefficient_, part.exponent_);
  const Coefficient whole = aligned.a / aligned.b;
  if (whole > std::numeric_limits<std::int64_t>::max()) throw DecimalOverflow();
  return {static_cast<std::uint64_t>(whole), aligned.a % aligned.b == 0};
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& d) { return d.coefficient_ < 0 ? -1 : d.coefficient_ > 0 ? 1 : 0; };
  if (sign(a) != sign(b) || sign(a) == 0) return sign(a) <=> sign(b);
  const int a_point = digits_of(a.coefficient_) + a.exponent_;
  const int b_point = digits_of(b.coefficient_) + b.exponent_;
  if (a_point != b_point) return sign(a) > 0 ? a_point <=> b_point : b_point <=> a_point;
  // With the point at the same digit, both fit into as many digits as the longer has.
  const Aligned aligned = align(a.coefficient_, a.exponent_, b.coefficient_, b.exponent_);
  return aligned.a < aligned.b   ? std::strong_ordering::less
         : aligned.a > aligned.b ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
}

DecimalRange::DecimalRange(Decimal start, Decimal stop, Decimal step, bool closed) : start_(start), step_(step) {
  if (step.is_zero()) throw std::invalid_argument("a range's step must not be 0");
  const Decimal span = step.is_negative() ? start - stop : stop - start;
  if (span.is_negative()) return;
  const Decimal stride = step.is_negative() ? -step : step;
  const Decimal::Quotient steps = span.quotient(stride);
  count_ = steps.whole + (closed || !steps.exact ? 1 : 0);
}

Decimal DecimalRange::operator[](std::uint64_t index) const {
  return start_ + Decimal(static_cast<Coefficient>(index), 0) * step_;
}

std::string format_double15(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return Decimal::rounded(value).text();
}

}  // namespace godwit
