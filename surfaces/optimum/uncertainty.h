// How sure the place of the optimum is.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

struct FactorUncertainty {
  std::string name;
  Interval settings;           ///< 5 % and 95 % of the optimal setting, natural units; numeric
  std::vector<double> shares;  ///< categorical: how often each level is the best
};

/// The points c (coded, of the factors listed: the numeric ones) with
/// (c - centre)' covariance^-1 (c - centre) <= radius_squared; directions in which no optimum moves
/// are fixed.
struct LocationRegion {
  std::vector<Eigen::Index> factors;
  Eigen::VectorXd centre;
  Eigen::MatrixXd covariance;
  double radius_squared = 0;

  /// `coded` has all factors.
  bool contains(const Eigen::VectorXd& coded) const;
};

/// From draws of what the true mean responses may be, given the runs (MeanDraws): each has an
/// optimum of its own.
struct OptimumUncertainty {
  int draws = 0;
  /// One quadratic on a box: each draw's optimum is exact, also between usable settings. Else it is
  /// the best of some hundred usable settings that were the best for draws tried before.
  bool exact = false;
  std::vector<FactorUncertainty> factors;
  std::optional<LocationRegion> region;  ///< holds 95 % of the optima; numeric factors only
  /// How often each of the best and the alternatives is the best of them; adds up to 1.
  std::vector<double> best_shares;
  /// What is lost on average for not knowing the truth: the desirability of a draw's optimum less
  /// that of the best settings in that draw; for one ramp and no limits also its response, own
  /// unit.
  double expected_desirability_loss = 0;
  std::optional<double> expected_response_loss;
};

/// Throws std::invalid_argument where no response with a goal has an error estimate: then nothing
/// is known of the uncertainty.
OptimumUncertainty optimum_uncertainty(const OptimumRequest& request, const Optimum& optimum,
                                       int draws = 10'000);

}  // namespace doetune::surfaces
