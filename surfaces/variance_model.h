// How the error variance of a response depends on the settings, where it is not constant.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// The sample variance of runs at one point, or of repeats inside one run, on the scale of the fit.
struct GroupVariance {
  Eigen::VectorXd coded;
  double variance = 0;
  int df = 0;  ///< one less than the runs, > 0
};

/// Of every point that was run more than once (in one block, where there are blocks).
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

/// Repeats inside a run lack what changes from run to run, so their variance has a level of its
/// own: it is taken to be proportional to that of runs, tau^2(x) = c sigma^2(x), and c is estimated
/// with g. So repeats help to tell how the variance changes with the settings, and not how large it
/// is; without groups the level is that of the repeats, and a fit takes its own from the residuals.
///
/// Maximum likelihood from the distribution of the group variances, df s^2 / sigma^2 ~ chi^2(df):
/// a gamma regression with log link, by Fisher scoring. Factors that the groups do not vary stay
/// out of the model.
/// Source: McCullagh & Nelder (1989), Generalized Linear Models, 8.3 and 10.5.
/// Throws FitError where neither a group nor repeats have a variance above 0.
VarianceModel fit_variance_model(const std::vector<doe::Factor>& factors,
                                 const std::vector<GroupVariance>& groups,
                                 const std::vector<GroupVariance>& repeats = {});

/// Whether the variance is constant.
struct ConstancyTest {
  /// Likelihood ratio of the log-linear model against a constant, 2 (l1 - l0): finds a variance
  /// that rises or falls with a factor, with as few as two runs a point.
  double likelihood_ratio = 0;
  int df = 0;  ///< coefficients beside the constant
  /// The share of data sets simulated under a constant variance with a ratio at least as high
  /// (the observed one counted among them): exact for any number of replicates, where the
  /// chi-squared approximation needs some ten a point. Source: Barnard (1963), JRSS B 25, 294.
  double p = 1;
  /// Bartlett's statistic against any difference among the groups, and its p from chi^2 with one
  /// degree of freedom less than groups; to be read with five or more runs a point. Empty where a
  /// group has no variance. Source: NIST/SEMATECH e-Handbook, 1.3.5.7.
  std::optional<double> bartlett, bartlett_p;
};

/// Empty where no group has a variance above 0, or the groups differ in no factor.
std::optional<ConstancyTest> test_constancy(const std::vector<doe::Factor>& factors,
                                            const std::vector<GroupVariance>& groups,
                                            std::uint64_t seed = 1, int simulations = 1999);

}  // namespace doetune::surfaces
