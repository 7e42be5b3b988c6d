// Surfaces as data from which a page's scripts predict with intervals, as C++ does.
#pragma once

#include <nlohmann/json.hpp>

#include "surfaces/models/feasibility.h"
#include "surfaces/surface.h"

namespace doetune::reports {

/// What a surface is evaluated from; null for a kind that has no such form. Always `surface` (the
/// kind), `transform`, `sigma` (null: unknown) and `df`; then, by the kind,
///
///   polynomial        columns [{name, powers, contrasts}], beta, covariance; `variance` {columns,
///                     coefficients} where sigma follows the settings; `whole_plots` {ratio,
///                     covariance, derivatives, of_variances} where runs are in whole plots
///   gaussian-process  columns, beta, points, runs_at, weights, rates, noise_ratio, process_sigma
///   law               law, factor, by (null: none), and for each level parameters and covariance
///
/// Column c of a model matrix at coded x is the product over factors f of x_f^powers[f], or of
/// contrast contrasts[f] where that is not -1. Covariances are unscaled (times sigma^2 they are
/// those of the estimates); symmetric matrices are lower triangles, row after row. Rates are
/// 5 / l_k^2 of numeric factors and -ln rho_c of categorical ones (surfaces::Correlation).
/// Nothing is a value on a grid, and what follows from the rest is left out.
nlohmann::ordered_json surface_json(const surfaces::Surface& surface);

/// {columns, beta} of eta, above 0 where a run completes with a probability above one half.
nlohmann::ordered_json feasibility_json(const surfaces::Feasibility& feasibility);

}  // namespace doetune::reports
