// Problems whose optimum is that of one quadratic on a box, and known exactly.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/box_optimum.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {

/// One response is maximised or minimised, its surface is a quadratic of the numeric factors, and
/// only their ranges bound them. On the scale of the fit `sign` times the quadratic is maximised.
class QuadraticGoal {
 public:
  /// Empty if this is not the case, or if there are too many numeric factors (more than
  /// kMaxBoxFactors) or combinations of levels (more than 1,000).
  static std::optional<QuadraticGoal> of(const OptimumRequest& request);

  const GoalResponse& response() const { return *response_; }
  double sign() const { return sign_; }

  /// Coded points, one per combination of levels of the categorical factors.
  const std::vector<Eigen::VectorXd>& levels() const { return levels_; }

  /// The best point, coded, levels included, with sign times the quadratic as its value; settings
  /// between usable ones are allowed. `quadratic_at` gives the quadratic at the i-th combination.
  BoxOptimum best(const std::function<QuadraticForm(std::size_t)>& quadratic_at) const;

  /// The optimum of the surface itself.
  BoxOptimum best() const;

 private:
  const GoalResponse* response_ = nullptr;
  double sign_ = 1;
  std::vector<Eigen::VectorXd> levels_;
  std::vector<Eigen::Index> numeric_;  ///< the numeric factors
  Eigen::VectorXd low_, high_;         ///< their ranges, coded
};

/// The usable settings around a coded point: each numeric factor at the nearest usable setting
/// below or above, in all combinations of up to twelve factors that are not at a usable setting;
/// natural units, one point per row.
Eigen::MatrixXd usable_around(const OptimumRequest& request, const SettingsSearch& search,
                              const Eigen::VectorXd& coded);

}  // namespace doetune::surfaces
