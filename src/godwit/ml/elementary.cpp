#include "godwit/ml/elementary.h"

#include <limits>
#include <numbers>

namespace godwit::ml {

double log(double x) {
  if (!(x >= 0x1p-1022) || x > 0x1.fffffffffffffp1023) return std::numeric_limits<double>::quiet_NaN();
  // x = 2^n m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m - 1) / (m + 1)), by its series.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t n = static_cast<std::int64_t>((bits >> 52) & 0x7ff) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > std::numbers::sqrt2) {
    m *= 0.5;
    ++n;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 0;
  for (int k = 21; k >= 3; k -= 2) series = (series + 1.0 / k) * z;
  const double k = static_cast<double>(n);
  return k * 6.93147180369123816490e-01 + (k * 1.90821492927058770002e-10 + 2 * s * series + 2 * s);
}

double cos(double x) {
  // Reduced to [-pi/4, pi/4] around the nearest multiple of pi/2, in two pieces as fdlibm splits it.
  const double quarters = x * (2 / std::numbers::pi);
  const std::int64_t q = static_cast<std::int64_t>(quarters + (quarters < 0 ? -0.5 : 0.5));
  const double k = static_cast<double>(q);
  const double r = (x - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11;
  const double z = r * r;
  double c = 0, s = 0;
  for (int i = 16; i >= 2; i -= 2) c = -(c + 1) * z / (i * (i - 1));
  for (int i = 17; i >= 3; i -= 2) s = -(s + 1) * z / (i * (i - 1));
  switch (q & 3) {
    case 0:
      return 1 + c;
    case 1:
      return -(r + r * s);
    case 2:
      return -(1 + c);
    default:
      return r + r * s;
  }
}

double power(double x, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, x *= x)
    if (exponent & 1) result *= x;
  return result;
}

}  // namespace godwit::ml
