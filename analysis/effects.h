// Effects of the terms of a fit: coefficients with confidence intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "surfaces/diagnostics/lenth.h"

namespace doetune::analysis {

/// A coefficient in coded units: the change of the response (on the scale of the fit) from the
/// centre of a factor's range to its high end, with the other factors at the centre.
struct Effect {
  std::string term;
  double estimate = 0;
  std::optional<surfaces::Interval> interval;  ///< 95 %
  /// Simultaneous 95 % interval over all terms (Bonferroni).
  std::optional<surfaces::Interval> joint_interval = {};
  std::optional<double> std_error, t, p, vif;

  bool is_clear() const;    ///< the interval exists and excludes 0
  bool is_certain() const;  ///< the joint interval exists and excludes 0
};

/// All terms except the intercept, largest magnitude first.
std::vector<Effect> effects_of(const surfaces::Fit& fit);

/// Effects of a saturated fit, scaled for Lenth's method: b / sqrt(n C), with C the unscaled
/// variance of the coefficient. This equals the coefficient for orthogonal two-level columns and
/// gives all terms the same variance in any design.
struct SaturatedEffects {
  std::vector<Effect> effects;  ///< largest magnitude first
  surfaces::LenthMargins margins;

  std::vector<std::string> beyond(double margin) const;  ///< terms above the margin, largest first
};

/// Empty if the fit has residual degrees of freedom or lenth_margins returns nothing.
std::optional<SaturatedEffects> saturated_effects(const surfaces::Fit& fit);

/// The modelled quantity: "latency", or under a transform "ln(latency)", "1/latency".
std::string fitted_quantity(const ResponseAnalysis& response);

/// Its unit: that of the response, or none under a transform.
std::string fitted_unit(const ResponseAnalysis& response);

/// Whether the response differs between the runs of the fit.
bool varies(const surfaces::Fit& fit);

/// The most important term in one sentence; without an error estimate, based on Lenth's margin.
std::string effects_conclusion(const ResponseAnalysis& response);

/// The 97.5 % quantile of Student's t: half-width of a 95 % interval in standard errors.
double t_quantile_95(double df);

}  // namespace doetune::analysis
