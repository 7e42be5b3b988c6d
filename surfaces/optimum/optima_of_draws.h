// The optimum of every draw of what the true mean responses may be; for uncertainty.cpp only.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/quadratic_goal.h"

namespace doetune::surfaces {

/// One row a draw.
struct OptimaOfDraws {
  OptimaOfDraws(int draws, Eigen::Index factors);

  Eigen::MatrixXd coded;                  ///< where the optimum lies
  Eigen::VectorXd desirability_loss;      ///< of the first listed settings
  Eigen::VectorXd response_loss;          ///< of the first response
  std::vector<Eigen::Index> best_listed;  ///< which of the listed settings is the best of them
};

/// Draws in one stream of random numbers; parts of so many are drawn on several threads.
inline constexpr int kDrawsAtATime = 250;

/// Exact, of one quadratic on a box; `listed` coded, a point a row.
OptimaOfDraws exact_optima(const OptimumRequest& request, const QuadraticGoal& goal,
                           const Eigen::MatrixXd& listed, int draws);

/// Among usable settings that may be the best; all responses of the request count.
OptimaOfDraws optima_among_settings(const OptimumRequest& request, const Eigen::MatrixXd& listed,
                                    int draws);

}  // namespace doetune::surfaces
