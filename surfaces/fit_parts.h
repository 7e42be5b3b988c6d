// The parts that a fit is made of, each in its own source; for fit.cpp only.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// The analysis of variance of a fit whose residuals are known; `z` is the transformed response.
std::vector<AnovaRow> analysis_of_variance(const Fit& fit, const Eigen::VectorXd& z);

/// Lack of fit against pure error, from points that were run more than once.
std::optional<LackOfFit> lack_of_fit(const Fit& fit, const Eigen::VectorXd& z);

/// The polynomial in natural units: coded terms expanded in extended precision.
/// Terms with categorical factors keep their contrasts, "precision[fp32]".
std::vector<NaturalCoefficient> natural_coefficients(const Fit& fit);

/// Empty for a model without squares or with a singular second-order matrix, with terms above
/// order two, or with categorical factors.
std::optional<StationaryPoint> stationary_point(const Fit& fit);

}  // namespace doetune::surfaces
