// Student's t, F, chi-squared and the normal, as the fits need them.
#pragma once

namespace doetune::surfaces {

/// The t that a Student variable with df degrees of freedom exceeds in size with probability
/// 1 - level. df may be a fraction, or infinite: the normal distribution.
double t_quantile(double level, double df);

/// P(|T| > |t|).
double t_p_value(double t, double df);

/// P(T <= t).
double t_probability(double t, double df);

/// The t that a Student variable with df degrees of freedom lies below with `probability`.
double t_value(double probability, double df);

/// P(F > f) with df1 and df2 degrees of freedom.
double f_p_value(double f, double df1, double df2);

/// The z that a standard normal variable exceeds in size with probability 1 - level.
double normal_quantile(double level);

/// P(Z <= z) of a standard normal variable.
double normal_probability(double z);

/// The z that a standard normal variable lies below with `probability`.
double normal_value(double probability);

/// A standard normal number from a uniform one in [0, 1).
double normal_draw(double uniform);

/// The value that a chi-squared variable with df degrees of freedom lies below with `probability`.
double chi_squared_quantile(double probability, double df);

}  // namespace doetune::surfaces
