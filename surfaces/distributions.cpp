#include "surfaces/distributions.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace doetune::surfaces {

double t_quantile(double level, double df) {
  return boost::math::quantile(boost::math::students_t(df), (1 + level) / 2);
}

double t_p_value(double t, double df) {
  if (!std::isfinite(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(df), std::abs(t)));
}

double t_probability(double t, double df) {
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  return boost::math::cdf(boost::math::students_t(df), t);
}

double t_value(double probability, double df) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (probability <= 0) return -kInfinity;
  if (probability >= 1) return kInfinity;
  return boost::math::quantile(boost::math::students_t(df), probability);
}

double f_p_value(double f, double df1, double df2) {
  if (!std::isfinite(f)) return 0;
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f(df1, df2), f));
}

double normal_quantile(double level) {
  return boost::math::quantile(boost::math::normal(), (1 + level) / 2);
}

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

double normal_probability(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

double normal_value(double probability) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (probability <= 0) return -kInfinity;
  if (probability >= 1) return kInfinity;
  return boost::math::quantile(boost::math::normal(), probability);
}

// Without the promotion to long double, which takes most of the time and changes the last digit.
double normal_draw(double uniform) {
  constexpr double kHalfStep = 0x1p-54;  // replaces 0, where the quantile is infinite
  using boost::math::policies::policy;
  using boost::math::policies::promote_double;
  const boost::math::normal_distribution<double, policy<promote_double<false>>> normal;
  return boost::math::quantile(normal, uniform > 0 ? uniform : kHalfStep);
}

double chi_squared_quantile(double probability, double df) {
  return boost::math::quantile(boost::math::chi_squared(df), probability);
}

}  // namespace doetune::surfaces
