// Uncertainty of the location of the optimum.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

struct FactorUncertainty {
  std::string name;
  Interval settings;  ///< 5 % and 95 % quantiles of the optimal setting, natural units; numeric
  std::vector<double> shares;  ///< categorical: how often each level is optimal
  /// No response with a goal depends on the factor, so that the optimum may lie at any setting: the
  /// ends of `settings` are those of the range, and `shares` are equal. Never of a held factor.
  bool anywhere = false;
};

/// The points c (coded, of the listed numeric factors) with (c - centre)' covariance^-1 (c -
/// centre) <= radius_squared; fixed in directions in which no optimum varies.
struct LocationRegion {
  std::vector<Eigen::Index> factors;  ///< numeric, not those whose optimum lies anywhere
  Eigen::VectorXd centre;
  Eigen::MatrixXd covariance;
  double radius_squared = 0;

  /// `coded` has an entry for every factor.
  bool contains(const Eigen::VectorXd& coded) const;
};

/// From draws of the true mean responses and of where runs complete, given the runs: each draw has
/// its own optimum, as if its truth were known (DrawnScores). For one quadratic on a box they are
/// those of its posterior, which after a selection has all terms that were considered; otherwise,
/// and without a posterior, those of MeanDraws.
struct OptimumUncertainty {
  int draws = 0;
  /// For one quadratic on a box each draw's optimum is exact, also between usable settings.
  /// Otherwise it is the best of a few hundred usable settings, from all over the region, that were
  /// among the best in pilot draws.
  bool exact = false;
  std::vector<FactorUncertainty> factors;
  std::optional<LocationRegion> region;  ///< contains 95 % of the optima; numeric factors only
  /// How often each of the best and the alternatives is the best of them; the sum is 1.
  std::vector<double> best_shares;
  /// Expected loss from not knowing the truth: the desirability of a draw's optimum minus that of
  /// the best settings in that draw; for one ramp and no limits also the response, own unit.
  double expected_desirability_loss = 0;
  std::optional<double> expected_response_loss;
};

/// Throws std::invalid_argument if no response with a goal has an error estimate, since the
/// uncertainty is then unknown.
OptimumUncertainty optimum_uncertainty(const OptimumRequest& request, const Optimum& optimum,
                                       int draws = 10'000);

}  // namespace doetune::surfaces
