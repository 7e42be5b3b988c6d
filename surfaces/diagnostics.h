// What the residuals of a fit say about its runs and its assumptions.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// How one run relates to the fit. Empty where the run alone determines a coefficient (leverage
/// 1), or without an error estimate.
/// Source: Belsley, Kuh & Welsch (1980), Regression Diagnostics, ch. 2; Cook (1977),
/// Technometrics 19, 15.
struct RunInfluence {
  double leverage = 0;
  std::optional<double> studentised;  ///< r = e / (s sqrt(1 - h))
  std::optional<double> deleted;      ///< t = r sqrt((df - 1) / (df - r^2)): with s of the others
  std::optional<double> cooks_distance;  ///< r^2 h / ((1 - h) p)
  std::optional<double> dffits;          ///< t sqrt(h / (1 - h))
  /// P(some run of n lies so far out) <= n P(|T| > |t|), T with df - 1 degrees of freedom.
  std::optional<double> outlier_p;
  bool outlier = false;        ///< outlier_p < 0.05
  bool influential = false;    ///< Cook's distance above the median of F(p, df)
  bool high_leverage = false;  ///< leverage above 2 p / n, or 1
};

std::vector<RunInfluence> run_influences(const Fit& fit);

/// A test whose small p speaks against an assumption of the fit.
struct AssumptionTest {
  double statistic = 0;
  double p = 0;
};

/// Whether responses drift in time: the coefficient of the run order, added to the model.
struct DriftTest {
  double slope = 0;  ///< from one run to the next, scale of the fit
  double std_error = 0;
  double t = 0, p = 0;
};

/// `order` are n places in time. Empty where order is a combination of the model's columns, or with
/// less than two degrees of freedom.
std::optional<DriftTest> drift_test(const Fit& fit, const Eigen::VectorXd& order);

/// Anderson and Darling's A^2 of the studentised residuals against the normal distribution, mean
/// and variance estimated. Source: Stephens, in D'Agostino & Stephens (1986), Goodness-of-Fit
/// Techniques, table 4.9. Empty with fewer than 8 runs or 4 degrees of freedom.
std::optional<AssumptionTest> normality_test(const Fit& fit);

/// Whether the spread of the residuals grows or falls with the fitted values: the score test, half
/// the regression sum of squares of e^2 / mean(e^2) on them, chi-squared with one degree of
/// freedom. `grows` says which. Source: Cook & Weisberg (1983), Biometrika 70, 1; Breusch & Pagan
/// (1979). Empty with fewer than 4 degrees of freedom, or a flat fit.
struct BreuschPaganTest : AssumptionTest {
  bool grows = false;
};
std::optional<BreuschPaganTest> breusch_pagan_test(const Fit& fit);

}  // namespace doetune::surfaces
