// What a fit knows of runs in whole plots: two variances, and degrees of freedom from both.
//
// A whole plot is a group of runs between two changes of the hard-to-change factors. Its runs share
// an error: z = X b + Z u + e with u ~ N(0, s_w^2) one a whole plot and e ~ N(0, s^2) one a run, so
// that the responses have the covariance s^2 H, H = I + d ZZ', d = s_w^2 / s^2.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace doetune::surfaces {

/// A test that all coefficients of a part of the model are 0. The part is what its columns add to
/// those of the parts before it, as in the analysis of variance.
struct PartTest {
  std::string source;  ///< as in AnovaRow
  int df = 0;
  double df_error = 0;  ///< of the denominator, perhaps a fraction
  double f = 0;
  /// Empty where df_error is not above 0: the approximation breaks down with so few whole plots.
  std::optional<double> p;
};

/// Covariances and tests of b = (X' H^-1 X)^-1 X' H^-1 z whose d had to be estimated, all in units
/// of s^2. With G_1 = ZZ', G_2 = I, so that s^2 H = s_w^2 G_1 + s^2 G_2:
///
///   covariance     C = (X' H^-1 X)^-1
///   derivatives    D_i = C X' H^-1 G_i H^-1 X C, of s^2 C by s_w^2 and by s^2
///   of_variances   W, inverse of the expected information of (s_w^2, s^2)
///   adjustment     2 sum_ij W_ij (C X' H^-1 G_i H^-1 G_j H^-1 X C - D_i C^-1 D_j), as L L'
///
/// Source: Kenward & Roger (1997), Biometrics 53, 983-997.
struct KenwardRoger {
  double ratio = 0;            ///< d
  Eigen::MatrixXd covariance;  ///< p x p, as the next
  std::array<Eigen::MatrixXd, 2> derivatives;
  Eigen::Matrix2d of_variances = Eigen::Matrix2d::Zero();
  Eigen::MatrixXd adjustment_root;  ///< L, p x r

  Eigen::MatrixXd adjusted_covariance() const;  ///< C + L L'

  /// Degrees of freedom of row b: 2 v^2 / (a' W a), v = row C row', a_i = row D_i row'.
  double df(const Eigen::RowVectorXd& row) const;

  /// Of what lies between row b and the next run, in a whole plot of its own: as above, with 1 + d
  /// more in v and 1 more in a_i.
  double next_run_df(const Eigen::RowVectorXd& row) const;

  /// That `contrasts` (l x p) times b is 0, by the scaled F of the source. Leaves `source` empty.
  PartTest test(const Eigen::MatrixXd& contrasts, const Eigen::VectorXd& b,
                double run_variance) const;

  /// The same of the first `columns` coefficients only.
  KenwardRoger of_first(Eigen::Index columns) const;
};

/// d and s^2 are estimated by restricted maximum likelihood, d not below 0.
struct SplitPlot {
  int whole_plots = 0;
  double whole_plot_variance = 0;   ///< s_w^2
  double run_variance = 0;          ///< s^2
  double whole_plot_std_error = 0;  ///< of the estimate of s_w^2, from the expected information
  double run_std_error = 0;         ///< of the estimate of s^2
  std::string note;                 ///< where s_w^2 is estimated to be 0: what that means
  std::vector<PartTest> tests;      ///< "blocks", "model" and its parts; none where s^2 is 0
  KenwardRoger errors;              ///< of the columns of the model
  Eigen::MatrixXd run_errors;       ///< p x n: b errs by run_errors e, e = H^-1/2 (Zu + e) / s
};

}  // namespace doetune::surfaces
