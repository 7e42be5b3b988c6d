// What moves a response: the coefficients of its fit with their intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/analysis.h"

namespace doetune::reports {

/// A coefficient in coded units: the change of the response (on the scale of the fit) from the
/// middle of a factor's range to its high end, other factors in the middle.
struct Effect {
  std::string term;
  double estimate = 0;
  std::optional<surfaces::Interval> interval;  ///< 95 %
  std::optional<double> std_error, t, p, vif;

  bool is_clear() const;  ///< the interval exists and excludes 0
};

/// All terms but the intercept, the largest in size first.
std::vector<Effect> effects_of(const surfaces::Fit& fit);

/// What the model is a model of: "latency", or under a transform "ln(latency)", "1/latency".
std::string fitted_quantity(const ResponseAnalysis& response);

/// Its unit: the response's own, and none under a transform.
std::string fitted_unit(const ResponseAnalysis& response);

/// The most important term in one sentence.
std::string effects_conclusion(const ResponseAnalysis& response);

/// Half the width of a 95 % interval in units of the standard error: Student's t.
double t_quantile_95(double df);

}  // namespace doetune::reports
