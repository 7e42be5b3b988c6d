// Two factors over which responses are drawn, the others held, and what is worked out over them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/slice.h"
#include "reports/figures/contour.h"

namespace doetune::reports {

struct Slice {
  const analysis::Analysis& analysis;
  const analysis::Reference& at;
  Eigen::VectorXd held;  ///< coded
  int x = 0;
  int y = 1;

  const doe::Factor& factor(int f) const { return analysis::factors_of(analysis)[f]; }

  /// In natural units; what is held is exactly what the reference says.
  std::vector<double> settings(const Eigen::VectorXd& point) const;

  /// How far a run lies from the slice: the largest coded distance along the factors held.
  double distance(const Eigen::VectorXd& coded) const;
};

/// The predicted mean. Values far beyond what was observed (an inverse transform has poles) would
/// drown the levels, and are cut off.
Grid mean_over(const Slice& slice, const analysis::ResponseAnalysis& response);

/// The least margin over all responses whose goal is a limit, in units of the goals' scales, within
/// [-1, 1]: negative where a limit is missed. Empty where nothing is limited. `means` go with the
/// responses, empty for those without a fit.
std::optional<Grid> margin_over(const Slice& slice, const std::vector<Grid>& means);

/// 1 where the study's constraints and forbidden combinations allow settings and a run is as likely
/// to complete as not, else -1; finer than the others, since it has no slope to interpolate along.
/// Empty where all is allowed.
std::optional<Grid> allowed_over(const Slice& slice);

/// Of what is allowed, the share whose margin is not negative; empty where nothing is allowed.
std::optional<double> share_met(const Grid& margin, const std::optional<Grid>& allowed);

}  // namespace doetune::reports
