// The report as JSON, from which the page's scripts predict, draw and assess offline.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/analysis.h"

namespace doetune::reports {

/// One document:
///
///   schema_version, study, region { constraints as written, forbidden combinations },
///   feasibility (null: nothing is known of what does not complete)
///   factors    [{name, unit, kind, scale, low, high, level_names, usable, ticks, baseline}]
///   responses  [{name, unit, goal: {text, is_limit, low, high, scale} | null, observed_low,
///                observed_high, and the members of surface_json where it has a surface}]
///   runs       [{run, status, settings, values: of the responses in their order}]
///   reference  {settings, name}: where the sliders start
///   optimum    {feasible, settings, expected: {response: {mean, confidence_interval}}} | null:
///                what is expected of settings that were chosen, where it is not the prediction
///
/// A covariance that is a number refers to that of the response with this index. `low` and `high`
/// of a goal bound the responses that meet it; null is unbounded. `usable` holds at most 1001
/// settings of a factor, including that of the reference. Surfaces are stored by their parameters,
/// never as values on a grid.
nlohmann::ordered_json report_data(const analysis::Analysis& analysis);

}  // namespace doetune::reports
