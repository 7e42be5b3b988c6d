// Surfaces as JSON, for prediction with intervals in the scripts of a page.
#pragma once

#include <nlohmann/json.hpp>

#include "surfaces/models/feasibility.h"
#include "surfaces/surface.h"

namespace doetune::reports {

/// The data needed to evaluate a surface; null for an unsupported type. Always `surface` (the
/// type), `transform`, `sigma` (null: unknown) and `df`; then, by type,
///
///   polynomial        columns [{name, powers, contrasts}], beta, covariance; `variance` {columns,
///                     coefficients} if sigma depends on the settings; `whole_plots` {ratio,
///                     covariance, derivatives, of_variances} if there are whole plots
///   gaussian-process  columns, beta, points, runs_at, weights, rates, noise_ratio, nugget,
///                     process_sigma
///   parametric        parametric_model (its name), factor, by (null: none), and for each level
///                     parameters and covariance
///
/// Column c of a model matrix at coded x is the product over factors f of x_f^powers[f], or of
/// contrast contrasts[f] if that is not -1. Covariances are unscaled (times sigma^2 they are those
/// of the estimates); symmetric matrices are stored as lower triangles, row by row. Rates are 5 /
/// l_k^2 of numeric factors and -ln rho_c of categorical ones (surfaces::Correlation). Nothing is
/// tabulated on a grid, and derived values are omitted.
nlohmann::ordered_json surface_json(const surfaces::Surface& surface);

/// {columns, beta} of eta, positive if a run completes with a probability above one half.
nlohmann::ordered_json feasibility_json(const surfaces::Feasibility& feasibility);

}  // namespace doetune::reports
