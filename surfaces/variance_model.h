// Model of the error variance of a response as a function of the settings.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// The sample variance of runs at one point, or of repeats within one run, on the scale of the fit.
struct GroupVariance {
  Eigen::VectorXd coded;
  double variance = 0;
  int df = 0;  ///< number of runs - 1, > 0
};

/// For every replicated point (within one block, if there are blocks).
///
/// coded  n x k points     z  n responses on the scale of the fit
std::vector<GroupVariance> replicate_variances(const Eigen::MatrixXd& coded,
                                               const Eigen::VectorXd& z,
                                               const std::vector<int>& blocks = {});

/// sigma^2(x) = exp(g' f(x)), with f the columns of a linear model: 1, numeric factors in coded
/// units, contrasts of categorical ones.
struct VarianceModel {
  doe::Model model;
  Eigen::VectorXd coefficients;     ///< g
  Eigen::VectorXd standard_errors;  ///< from the expected information

  double variance(const Eigen::Ref<const Eigen::VectorXd>& coded) const;
};

/// Repeats within a run do not include run-to-run variation, so their variance has its own level:
/// it is assumed proportional to that of runs, tau^2(x) = c sigma^2(x), and c is estimated with g.
/// So repeats inform how the variance depends on the settings, but not its magnitude; without
/// groups the level is that of the repeats, and a fit takes its own level from the residuals.
///
/// Maximum likelihood from the distribution of the group variances, df s^2 / sigma^2 ~ chi^2(df): a
/// gamma regression with log link, by Fisher scoring. Factors that do not vary between groups are
/// left out of the model.
/// Source: McCullagh & Nelder (1989), Generalized Linear Models, 8.3 and 10.5.
/// Throws FitError if neither a group nor repeats have a positive variance.
VarianceModel fit_variance_model(const std::vector<doe::Factor>& factors,
                                 const std::vector<GroupVariance>& groups,
                                 const std::vector<GroupVariance>& repeats = {});

/// Test of whether the variance is constant.
struct ConstancyTest {
  /// Likelihood ratio of the log-linear model against a constant, 2 (l1 - l0): detects a variance
  /// that increases or decreases with a factor, with as few as two runs per point.
  double likelihood_ratio = 0;
  int df = 0;  ///< coefficients besides the constant
  /// The fraction of data sets simulated under a constant variance with a ratio at least as high
  /// (the observed one included): exact for any number of replicates, whereas the chi-squared
  /// approximation needs about ten per point. Source: Barnard (1963), JRSS B 25, 294.
  double p = 1;
  /// Bartlett's statistic against any difference among the groups, and its p from chi^2 with
  /// (groups - 1) degrees of freedom; reliable with five or more runs per point. Empty if a group
  /// has no variance. Source: NIST/SEMATECH e-Handbook, 1.3.5.7.
  std::optional<double> bartlett, bartlett_p;
};

/// Empty if no group has a positive variance, or the groups do not differ in any factor.
std::optional<ConstancyTest> test_constancy(const std::vector<doe::Factor>& factors,
                                            const std::vector<GroupVariance>& groups,
                                            std::uint64_t seed = 1, int simulations = 1999);

}  // namespace doetune::surfaces
