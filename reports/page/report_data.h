// The report as data: what the page's scripts need to predict, draw and judge offline.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/analysis.h"

namespace doetune::reports {

/// One document:
///
///   schema_version, study, region { constraints as written, forbidden combinations },
///   feasibility (null: all runs completed)
///   factors    [{name, unit, kind, scale, low, high, level_names, usable, ticks, baseline}]
///   responses  [{name, unit, goal: {text, is_limit, low, high, scale} | null, observed_low,
///                observed_high, and the members of surface_json where it has a surface}]
///   runs       [{run, status, settings, values: of the responses in their order}]
///   reference  {settings, name}: where the sliders start
///   optimum    {feasible, settings} | null
///
/// A covariance that is a number is that of the response at this place of the list. A goal's low
/// and high bound the responses in which it is met; null is unbounded. `usable` holds at most 1001
/// settings of a factor, the reference's among them. Surfaces are shipped as what they are
/// evaluated from, never as values on a grid.
nlohmann::ordered_json report_data(const analysis::Analysis& analysis);

}  // namespace doetune::reports
