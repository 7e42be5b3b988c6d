// Split-plot results of a fit: two variance components, and degrees of freedom from both.
//
// A whole plot is a group of runs between two changes of the hard-to-change factors. Its runs share
// an error: z = X b + Z u + e with one u ~ N(0, s_w^2) per whole plot and one e ~ N(0, s^2) per
// run, so that the responses have the covariance s^2 H, H = I + d ZZ', d = s_w^2 / s^2.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace doetune::surfaces {

/// A test that all coefficients of a part of the model are 0, i.e. of what its columns add to the
/// preceding parts, as in the analysis of variance.
struct PartTest {
  std::string source;  ///< as in AnovaRow
  int df = 0;
  double df_error = 0;  ///< of the denominator, may be fractional
  double f = 0;
  double p = 1;
};

/// Covariances and tests of b = (X' H^-1 X)^-1 X' H^-1 z with estimated d, all in units of s^2.
/// With G_1 = ZZ', G_2 = I, so that s^2 H = s_w^2 G_1 + s^2 G_2:
///
///   covariance     C = (X' H^-1 X)^-1
///   derivatives    D_i = C X' H^-1 G_i H^-1 X C, of s^2 C by s_w^2 and by s^2
///   of_variances   W, inverse of the expected information of (s_w^2, s^2)
///   adjustment     2 sum_ij W_ij (C X' H^-1 G_i H^-1 G_j H^-1 X C - D_i C^-1 D_j), as L L'
///
/// Source: Kenward & Roger (1997), Biometrics 53, 983-997.
struct KenwardRoger {
  double ratio = 0;            ///< d
  Eigen::MatrixXd covariance;  ///< p x p, like the derivatives
  std::array<Eigen::MatrixXd, 2> derivatives;
  Eigen::Matrix2d of_variances = Eigen::Matrix2d::Zero();
  Eigen::MatrixXd adjustment_root;  ///< L, p x r

  Eigen::MatrixXd adjusted_covariance() const;  ///< C + L L'

  /// Degrees of freedom of row b: 2 v^2 / (a' W a), v = row C row', a_i = row D_i row'.
  double df(const Eigen::RowVectorXd& row) const;

  /// The same for the difference between row b and the next run, in a new whole plot: with 1 + d
  /// added to v and 1 to each a_i.
  double next_run_df(const Eigen::RowVectorXd& row) const;

  /// Test of `contrasts` (l x p) times b = 0, by the scaled F of the paper. Where so few whole
  /// plots leave it without two moments: unscaled, with 2 l / A2 degrees of freedom, which match
  /// the first moment 1 / (1 - A2 / l) and are those of a single contrast. Leaves `source` empty.
  PartTest test(const Eigen::MatrixXd& contrasts, const Eigen::VectorXd& b,
                double run_variance) const;

  /// The same for the first `columns` coefficients only.
  KenwardRoger of_first(Eigen::Index columns) const;
};

/// d and s^2 are estimated by restricted maximum likelihood, d not below 0.
struct SplitPlot {
  int whole_plots = 0;
  double whole_plot_variance = 0;   ///< s_w^2
  double run_variance = 0;          ///< s^2
  double whole_plot_std_error = 0;  ///< of the estimate of s_w^2, from the expected information
  double run_std_error = 0;         ///< of the estimate of s^2
  std::string note;                 ///< if s_w^2 is estimated as 0: its interpretation
  std::vector<PartTest> tests;      ///< "blocks", "model" and its parts; empty if s^2 is 0
  KenwardRoger errors;              ///< for the columns of the model
  Eigen::MatrixXd run_errors;  ///< p x n: the error of b is run_errors e, e = H^-1/2 (Zu + e) / s
};

}  // namespace doetune::surfaces
