// The optimum of each draw of the true mean responses; internal to uncertainty.cpp.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/quadratic_goal.h"

namespace doetune::surfaces {

/// One row per draw.
struct OptimaOfDraws {
  OptimaOfDraws(int draws, Eigen::Index factors);

  Eigen::MatrixXd coded;                  ///< location of the optimum
  Eigen::VectorXd desirability_loss;      ///< of the first listed settings
  Eigen::VectorXd response_loss;          ///< of the first response
  std::vector<Eigen::Index> best_listed;  ///< index of the best of the listed settings
};

/// Number of draws per random stream, the unit of work of a thread.
inline constexpr int kDrawsAtATime = 250;

/// Exact, for one quadratic on a box, from draws of its posterior if it has one, at most as many as
/// that has; `listed` is coded, one point per row.
OptimaOfDraws exact_optima(const OptimumRequest& request, const QuadraticGoal& goal,
                           const Eigen::MatrixXd& listed, int draws);

/// Over usable settings that may be the best; all responses of the request count.
OptimaOfDraws optima_among_settings(const OptimumRequest& request, const Eigen::MatrixXd& listed,
                                    int draws);

}  // namespace doetune::surfaces
