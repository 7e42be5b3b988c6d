// Student's t, F, chi-squared and normal distributions.
#pragma once

namespace doetune::surfaces {

/// Two-sided quantile: |T| with df degrees of freedom exceeds it with probability 1 - level. df may
/// be fractional, or infinite: the normal distribution.
double t_quantile(double level, double df);

/// P(|T| > |t|).
double t_p_value(double t, double df);

/// P(T <= t).
double t_probability(double t, double df);

/// The quantile t with P(T <= t) = probability.
double t_value(double probability, double df);

/// P(F > f) with df1 and df2 degrees of freedom.
double f_p_value(double f, double df1, double df2);

/// Two-sided quantile: |Z| exceeds it with probability 1 - level.
double normal_quantile(double level);

/// The density of a standard normal variable at z.
double normal_density(double z);

/// P(Z <= z) of a standard normal variable.
double normal_probability(double z);

/// The quantile z with P(Z <= z) = probability.
double normal_value(double probability);

/// Transforms a uniform number in [0, 1) to a standard normal one.
double normal_draw(double uniform);

/// The quantile of chi-squared with df degrees of freedom.
double chi_squared_quantile(double probability, double df);

}  // namespace doetune::surfaces
