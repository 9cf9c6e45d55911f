#include "godwit/report/distributions.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

namespace godwit::report {
namespace {

namespace bm = boost::math;

// Double all through: the same numbers with every long double.
using Policy = bm::policies::policy<bm::policies::promote_double<false>>;
using StudentT = bm::students_t_distribution<double, Policy>;
using ChiSquared = bm::chi_squared_distribution<double, Policy>;
using Normal = bm::normal_distribution<double, Policy>;

}  // namespace

double student_t_cdf(double t, double df) {
  return bm::cdf(StudentT(df), t);
}

double student_t_upper_tail(double t, double df) {
  return bm::cdf(bm::complement(StudentT(df), t));
}

double student_t_quantile(double p, double df) {
  return bm::quantile(StudentT(df), p);
}

double tost_power(const TostDesign& d) {
  if (d.standard_error <= 0) return std::fabs(d.difference) < d.margin ? 1 : 0;
  const double t = student_t_quantile(1 - d.alpha, d.df);
  const double to_upper = (d.margin - d.difference) / d.standard_error;
  const double to_lower = (-d.margin - d.difference) / d.standard_error;
  const Normal normal;
  const ChiSquared variance(d.df);
  // u is the estimated standard error over the true one.
  const auto success_and_density = [&](double u) {
    const double success = bm::cdf(normal, to_upper - t * u) - bm::cdf(normal, to_lower + t * u);
    return success * bm::pdf(variance, d.df * u * u) * 2 * d.df * u;
  };
  constexpr double kTail = 1e-12;  // left out at either end
  const double low = std::sqrt(bm::quantile(variance, kTail) / d.df);
  const double widest = d.margin / (t * d.standard_error);  // a wider interval does not fit between the margins
  const double high = std::min(widest, std::sqrt(bm::quantile(bm::complement(variance, kTail)) / d.df));
  if (high <= low) return 0;
  const double power = bm::quadrature::gauss_kronrod<double, 31>::integrate(success_and_density, low, high, 12, 1e-10);
  return std::clamp(power, 0.0, 1.0);
}

}  // namespace godwit::report
