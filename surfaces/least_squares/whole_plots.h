// Runs in whole plots: H = I + d ZZ', its root, and the maximum likelihood ratio d.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/split_plot.h"

namespace doetune::surfaces {

enum class Likelihood { kFull, kRestricted };

/// The grouping of runs that share a whole-plot error. Z is n x q, 1 where a run is in a whole
/// plot. With m runs in a whole plot, J the m x m matrix of ones and s^2 = 1 / (1 + m d), its part
/// of H^-k is
///
///   H^-k = I - (1 - s^2k) J / m.
class WholePlots {
 public:
  /// One number per run; runs with the same number are in the same whole plot.
  explicit WholePlots(const std::vector<int>& numbers);

  int count() const { return static_cast<int>(plots_.size()); }
  Eigen::VectorXd sizes() const;           ///< m of each whole plot
  Eigen::VectorXd scales(double d) const;  ///< s^2 of each whole plot
  double log_determinant(double d) const;  ///< ln |H|
  Eigen::MatrixXd membership() const;      ///< Z

  Eigen::MatrixXd whitened(Eigen::MatrixXd x, double d) const;  ///< H^-1/2 x
  Eigen::MatrixXd totals(const Eigen::MatrixXd& x) const;       ///< Z' x

  /// -2 times the log likelihood of d, maximised over the other parameters, and its derivative by
  /// d. The restricted one omits terms that do not depend on d.
  struct Deviance {
    double value = 0;
    double slope = 0;
  };
  Deviance deviance(const Eigen::MatrixXd& x, const Eigen::VectorXd& z, double d,
                    Likelihood likelihood) const;

  /// The d >= 0 with the smallest deviance; infinite if the deviance decreases without bound.
  double likeliest_ratio(const Eigen::MatrixXd& x, const Eigen::VectorXd& z,
                         Likelihood likelihood) const;

 private:
  std::vector<std::vector<Eigen::Index>> plots_;  ///< the runs of each
  Eigen::Index runs_ = 0;
};

/// `q` and `root` come from the decomposition H^-1/2 X = QR: root = R^-1.
KenwardRoger kenward_roger(const WholePlots& plots, double d, const Eigen::MatrixXd& q,
                           const Eigen::MatrixXd& root);

}  // namespace doetune::surfaces
