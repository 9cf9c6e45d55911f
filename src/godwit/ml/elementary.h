// Elementary functions that give the same bits on every processor.
//
// glibc chooses variants of exp, log and cos by the processor it finds when a program starts, so one static binary may
// round differently on two machines. These are plain arithmetic (range reduction and a polynomial), vectorize in
// loops, and differ only between builds that contract multiplications and additions differently.
#pragma once

#include <bit>
#include <cstdint>

namespace godwit::ml {

// e^x. Relative error below 4 units in the last place; 0 and infinity are replaced by about e^-87 and e^88 (float) or
// e^-708 and e^709 (double). A NaN stays one.
inline float exp(float x) {
  // Adding 1.5 2^23 leaves the nearest whole number in the low bits. No branch and no conversion, so that loops
  // vectorize; a NaN goes through every step.
  constexpr float kLow = -87.0f, kHigh = 88.0f, kRound = 12582912.0f;
  const float above = x < kLow ? kLow : x;
  const float y = kHigh < above ? kHigh : above;
  const float shifted = y * 1.442695041f + kRound;
  const float k = shifted - kRound;
  const float r = (y - k * 0.693359375f) + k * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + (127u << 23));
}

inline double exp(double x) {
  constexpr double kLow = -708.0, kHigh = 709.0, kRound = 6755399441055744.0;  // 1.5 2^52
  constexpr double kCoefficients[] = {1.0 / 479001600.0,
                                      1.0 / 39916800.0,
                                      1.0 / 3628800.0,
                                      1.0 / 362880.0,
                                      1.0 / 40320.0,
                                      1.0 / 5040.0,
                                      1.0 / 720.0,
                                      1.0 / 120.0,
                                      1.0 / 24.0,
                                      1.0 / 6.0,
                                      0.5,
                                      1.0,
                                      1.0};
  const double above = x < kLow ? kLow : x;
  const double y = kHigh < above ? kHigh : above;
  const double shifted = y * 1.4426950408889634 + kRound;
  const double k = shifted - kRound;
  const double r = (y - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  for (double c : kCoefficients) p = p * r + c;
  return p * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) << 52) + (std::uint64_t{1023} << 52));
}

// The hyperbolic tangent; the absolute error stays below 2 units in the last place of 1.
template <class T>
inline T tanh(T x) {
  const T limit = T(20);
  const T y = x < -limit ? -limit : (x > limit ? limit : x);
  return T(1) - T(2) / (exp(T(2) * y) + T(1));
}

// The natural logarithm of a positive, normal, finite number, with a relative error of about 1e-15; NaN for others.
double log(double x);
// The cosine, for |x| up to about 1e6; absolute error about 1e-15.
double cos(double x);
// x to a whole power, by squaring.
double power(double x, std::uint64_t exponent);

}  // namespace godwit::ml
