// What moves a response: the coefficients of its fit with their intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "surfaces/diagnostics/lenth.h"

namespace doetune::analysis {

/// A coefficient in coded units: the change of the response (on the scale of the fit) from the
/// middle of a factor's range to its high end, other factors in the middle.
struct Effect {
  std::string term;
  double estimate = 0;
  std::optional<surfaces::Interval> interval;  ///< 95 %
  /// So much wider that those of all terms hold together with 95 % (Bonferroni).
  std::optional<surfaces::Interval> joint_interval = {};
  std::optional<double> std_error, t, p, vif;

  bool is_clear() const;    ///< the interval exists and excludes 0
  bool is_certain() const;  ///< so does the joint one
};

/// All terms but the intercept, the largest in size first.
std::vector<Effect> effects_of(const surfaces::Fit& fit);

/// The effects of a fit without residual freedom as Lenth's method takes them: b / sqrt(n C), with
/// C the coefficient's unscaled variance. That is the coefficient itself where columns are
/// orthogonal and of two levels, and of the same variance for all terms in any design.
struct SaturatedEffects {
  std::vector<Effect> effects;  ///< the largest in size first
  surfaces::LenthMargins margins;

  std::vector<std::string> beyond(double margin) const;  ///< terms, the largest first
};

/// Empty where a fit has residual freedom, or where lenth_margins is.
std::optional<SaturatedEffects> saturated_effects(const surfaces::Fit& fit);

/// What the model is a model of: "latency", or under a transform "ln(latency)", "1/latency".
std::string fitted_quantity(const ResponseAnalysis& response);

/// Its unit: the response's own, and none under a transform.
std::string fitted_unit(const ResponseAnalysis& response);

/// Whether the response was not the same in all runs of the fit.
bool varies(const surfaces::Fit& fit);

/// The most important term in one sentence; without an error estimate, what Lenth's margin says.
std::string effects_conclusion(const ResponseAnalysis& response);

/// Half the width of a 95 % interval in units of the standard error: Student's t.
double t_quantile_95(double df);

}  // namespace doetune::analysis
