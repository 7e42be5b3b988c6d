// What runs at given settings cost, by the runs so far.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/models/gaussian_process.h"
#include "surfaces/optimum/settings_search.h"
#include "tuning/problem.h"

namespace doetune::tuning {

/// Predicts RunCost. Where the times of the runs so far differ by a factor of kMuch and more, they
/// are modelled by a Gaussian process of their logarithm; else all runs take the same time.
class RunCosts {
 public:
  static constexpr double kMuch = 1.5;

  RunCosts(const Problem& problem, const std::vector<Observation>& so_far);

  /// Of runs at each point, all above 0; `in_place`: see RunCost.
  Eigen::VectorXd of(const surfaces::Block& points, const std::optional<Settings>& in_place) const;

 private:
  const Problem& problem_;
  double mean_seconds_ = 0;
  std::optional<surfaces::GaussianProcess> seconds_;
};

}  // namespace doetune::tuning
