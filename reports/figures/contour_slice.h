// A two-factor slice of the design space, and the grids computed over it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/reference_point.h"
#include "reports/figures/contour.h"

namespace doetune::reports {

struct Slice {
  const analysis::Analysis& analysis;
  const analysis::Reference& at;
  Eigen::VectorXd held;  ///< coded
  int x = 0;
  int y = 1;

  const doe::Factor& factor(int f) const { return analysis::factors_of(analysis)[f]; }

  /// Distance of a run from the slice: the maximum coded distance along the factors held.
  double distance(const Eigen::VectorXd& coded) const;
};

/// The predicted mean, clamped to a range around the observed values: extreme values (an inverse
/// transform has poles) would distort the contour levels.
Grid mean_over(const Slice& slice, const analysis::ResponseAnalysis& response);

/// The minimum margin over all responses with a limit, in units of the goals' scales, clamped to
/// [-1, 1]; negative if a limit is violated. Empty without limits. `means` correspond to the
/// responses and are empty for those without a fit.
std::optional<Grid> margin_over(const Slice& slice, const std::vector<Grid>& means);

/// 1 where settings are allowed (allowed_at), else -1; on a finer grid, since the values cannot be
/// interpolated. Empty if everything is allowed.
std::optional<Grid> allowed_over(const Slice& slice);

/// The mean with NaN where settings are not permitted; unchanged if none of the nodes is.
Grid within(const Grid& mean, const std::optional<Grid>& allowed);

/// The fraction of the permitted area with a nonnegative margin; empty if nothing is permitted.
std::optional<double> fraction_met(const Grid& margin, const std::optional<Grid>& allowed);

}  // namespace doetune::reports
