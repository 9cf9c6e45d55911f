// Decimal numbers, exact: what a person writes as 0.1 is a tenth, so steps of 0.1 never print 0.30000000000000004.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "godwit/base/error.h"

namespace godwit {

// An exact result needs more digits or a larger exponent than a Decimal has.
class DecimalOverflow : public Error {
 public:
  DecimalOverflow();
};

// coefficient × 10^exponent, up to 36 digits, never with trailing zeros: equal numbers have equal members.
class Decimal {
 public:
  __extension__ using Coefficient = __int128;
  static constexpr int kMostDigits = 36;
  static constexpr int kMostExponent = 10'000;  // of the last digit, in either direction

  Decimal() = default;                                    // 0
  Decimal(std::int64_t integer) : Decimal(integer, 0) {}  // NOLINT(google-explicit-constructor): numbers are numbers
  // Throws DecimalOverflow.
  Decimal(Coefficient coefficient, int exponent);

  // Reads [+-]digits[.digits][e[+-]digits] with a digit on at least one side of the point; nullopt for anything else,
  // and where it does not fit.
  static std::optional<Decimal> parse(std::string_view text);
  // The number that `value` is when rounded to `digits` (1 to 17) significant digits. Throws DecimalOverflow for what
  // is not finite.
  static Decimal rounded(double value, int digits = 15);

  // The shortest text: "0.003", "-12", "100". Very large and very small numbers have an exponent, by the rules of
  // ECMAScript's Number.prototype.toString: "1e-7", "1.5e+21".
  std::string text() const;
  double value() const;  // the nearest double
  bool is_zero() const { return coefficient_ == 0; }
  bool is_negative() const { return coefficient_ < 0; }
  // As an integer, where it is one and fits.
  std::optional<std::int64_t> integer() const;

  // Exact; throw DecimalOverflow.
  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b);
  friend Decimal operator*(const Decimal& a, const Decimal& b);
  Decimal operator-() const;
  // Rounded half to even to 15 significant digits where it needs more. `divisor` > 0.
  Decimal divided_by(std::int64_t divisor) const;

  // How often `part` fits into this number, and whether it does so exactly; both numbers positive or zero, `part` not
  // zero. Throws DecimalOverflow.
  struct Quotient {
    std::uint64_t whole;
    bool exact;
  };
  Quotient quotient(const Decimal& part) const;

  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);

 private:
  Coefficient coefficient_ = 0;
  int exponent_ = 0;
};

// start, start + step, … up to `stop`, which belongs to it only where it is closed (and a step hits it). The step may
// be negative, never zero.
class DecimalRange {
 public:
  // Throws DecimalOverflow where the number of steps cannot be counted, std::invalid_argument for a step of zero.
  DecimalRange(Decimal start, Decimal stop, Decimal step, bool closed);
  std::uint64_t count() const { return count_; }
  // Throws DecimalOverflow where the value needs too many digits.
  Decimal operator[](std::uint64_t index) const;

 private:
  Decimal start_, step_;
  std::uint64_t count_ = 0;
};

// The value rounded to 15 significant digits, as the shortest text (Decimal::text); "nan", "inf", "-inf". 15 digits
// are what every double keeps, so noise of binary arithmetic does not show: 0.1 + 0.2 is "0.3".
std::string format_double15(double value);

}  // namespace godwit
