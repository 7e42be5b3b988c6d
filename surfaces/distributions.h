// Student's t and F, as the fits need them (Boost.Math).
#pragma once

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace doetune::surfaces {

/// The t that a Student variable with df degrees of freedom exceeds in size with probability
/// 1 - level.
inline double t_quantile(double level, int df) {
  return boost::math::quantile(boost::math::students_t(df), (1 + level) / 2);
}

/// P(|T| > |t|).
inline double t_p_value(double t, int df) {
  if (!std::isfinite(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(df), std::abs(t)));
}

/// P(T <= t).
inline double t_probability(double t, int df) {
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  return boost::math::cdf(boost::math::students_t(df), t);
}

/// P(F > f) with df1 and df2 degrees of freedom.
inline double f_p_value(double f, int df1, int df2) {
  if (!std::isfinite(f)) return 0;
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f(df1, df2), f));
}

}  // namespace doetune::surfaces
