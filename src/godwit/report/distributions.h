// Student's t and the power of equivalence tests, by Boost.Math.
#pragma once

namespace godwit::report {

// P(T <= t) for Student's t with `df` > 0 degrees of freedom.
double student_t_cdf(double t, double df);
// P(T > t): exact where it is small.
double student_t_upper_tail(double t, double df);
// The t with P(T <= t) = p, for p in (0, 1) and `df` > 0.
double student_t_quantile(double p, double df);

// What decides how often two one-sided tests succeed.
struct TostDesign {
  double difference = 0;      // the true one, in the metric's unit
  double standard_error = 0;  // the true one of the estimated difference
  double df = 1;              // of the estimate of its variance
  double margin = 0;          // > 0
  double alpha = 0.05;        // of each of the two tests
};

// The probability that both one-sided t tests reject: that the 1 - 2 alpha interval of the difference lies within the
// margins. Exact for a normal estimate whose variance is estimated as a multiple of chi-squared(df)/df, by integrating
// over that distribution (Phillips, Journal of Pharmacokinetics and Biopharmaceutics 18, 1990; the integral is the
// difference of two of Owen's Q functions, Biometrika 52, 1965). Absolute error below 1e-9.
double tost_power(const TostDesign& design);

}  // namespace godwit::report
