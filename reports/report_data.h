// The report as data: what the page's scripts need to predict, draw and judge offline.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/analysis.h"

namespace doetune::reports {

/// One document:
///
///   schema_version, study, constrained (whether the region is more than a box)
///   factors    [{name, unit, kind, scale, low, high, level_names, usable, ticks, baseline}]
///   responses  [{name, unit, transform, goal: {text, low, high, scale} | null, df, sigma, t,
///                columns: [{name, powers, contrasts}], beta, covariance}]
///   runs       [{run, type, status, settings, responses, coded, fitted, residuals, leverage}]
///   reference  {settings, name}: where the sliders start
///   optimum    {feasible, settings} | null
///
/// Column c of a response's model matrix at coded x is the product over factors f of
/// x_f^powers[f], or of contrast contrasts[f] where that is not -1. Its variance there is
/// sigma^2 row covariance row'. A goal's low and high bound the responses in which it is met; null
/// is unbounded. `usable` holds at most 1001 settings of a factor, the reference's among them.
/// Surfaces are shipped as coefficients, never as values on a grid.
nlohmann::ordered_json report_data(const Analysis& analysis);

}  // namespace doetune::reports
