// Regression diagnostics: influence of runs and tests of the assumptions of a fit.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// Influence of one run on the fit. Values are empty if the run alone determines a coefficient
/// (leverage 1), or without an error estimate.
/// Source: Belsley, Kuh & Welsch (1980), Regression Diagnostics, ch. 2; Cook (1977),
/// Technometrics 19, 15.
struct RunInfluence {
  double leverage = 0;
  std::optional<double> studentised;     ///< r = e / (s sqrt(1 - h))
  std::optional<double> deleted;         ///< t = r sqrt((df - 1) / (df - r^2)): s without this run
  std::optional<double> cooks_distance;  ///< r^2 h / ((1 - h) p)
  std::optional<double> dffits;          ///< t sqrt(h / (1 - h))
  /// Bonferroni bound on P(some run of n is so extreme) <= n P(|T| > |t|), T with df - 1 df.
  std::optional<double> outlier_p;
  bool outlier = false;        ///< outlier_p < 0.05
  bool influential = false;    ///< Cook's distance above the median of F(p, df)
  bool high_leverage = false;  ///< leverage above 2 p / n, or 1
};

std::vector<RunInfluence> run_influences(const Fit& fit);

/// A test of an assumption of the fit; a small p is evidence against it.
struct AssumptionTest {
  double statistic = 0;
  double p = 0;
};

/// Test for drift in time: the coefficient of the run order, added to the model.
struct DriftTest {
  double slope = 0;  ///< per run, scale of the fit
  double std_error = 0;
  double t = 0, p = 0;
};

/// `order` holds n positions in time. Empty if order is a linear combination of the model's
/// columns, or with fewer than two degrees of freedom.
std::optional<DriftTest> drift_test(const Fit& fit, const Eigen::VectorXd& order);

/// Anderson-Darling A^2 test of the studentised residuals for normality, mean and variance
/// estimated. Source: Stephens, in D'Agostino & Stephens (1986), Goodness-of-Fit Techniques, table
/// 4.9. Empty with fewer than 8 runs or 4 degrees of freedom.
std::optional<AssumptionTest> normality_test(const Fit& fit);

/// Test of whether the residual variance depends on the fitted values. The statistic is the score
/// test's: half the regression sum of squares of e^2 / mean(e^2) on them. `grows` gives the
/// direction, compared with what leverages alone make. Its chi-squared distribution needs hundreds
/// of runs (of 20 in a face-centred design without effects it rejects 2.6 % at 5 %), so up to 500
/// runs p is the fraction of simulated responses of constant variance whose slope is at least as
/// far from that expected (the observed one included): exact for normal errors. Sources: Cook &
/// Weisberg (1983), Biometrika 70, 1; Breusch & Pagan (1979); Dufour, Khalaf, Bernard & Genest
/// (2004), Journal of Econometrics 122, 317. Empty with fewer than 4 degrees of freedom, or if all
/// fitted values are equal.
struct BreuschPaganTest : AssumptionTest {
  bool grows = false;
};
std::optional<BreuschPaganTest> breusch_pagan_test(const Fit& fit);

}  // namespace doetune::surfaces
