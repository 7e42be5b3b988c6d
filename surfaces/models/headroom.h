// How far runs were from the end of a resource such as memory.
#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doe/model.h"
#include "surfaces/models/feasibility.h"

namespace doetune::surfaces {

/// The least ln(capacity / use) over the resources whose use was measured; empty without any.
/// `values` are what a completed run measured, `capacities` by response, above 0.
std::optional<double> headroom_of(const std::map<std::string, double>& values,
                                  const std::map<std::string, double>& capacities);

/// The minimum number of readings for `headroom_draws`.
inline constexpr int kMinReadings = 3;

/// Draws of the coefficients of the log odds of completing, one column per draw, where runs have
/// readings of their headroom h. A run at x completes if
///   h = x'b + e > 0,   e ~ N(0, s^2)
/// so runs without a reading tell the sign of h: a censored regression. The coefficients of one
/// factor to the first power share a normal prior, as do the others but the constant, with standard
/// deviations that are half-Cauchy of scale 1 and 0.5, in units of ln(capacity / use). s^2 is
/// inverse gamma, as if four points had shown s = 0.15: few points do not show what the terms miss
/// elsewhere (chosen by simulation, bench/coverage). A point counts once, with the mean of its
/// readings: e is what the model misses there, which is the same in every run. The log odds are x'b
/// pi / (sqrt(3) s), those of a logistic e. Gibbs sampling, coefficient by coefficient within the
/// known directions. Sources: Chib (1992), Journal of Econometrics 51, 79; Makalic & Schmidt
/// (2016), IEEE Signal Processing Letters 23, 179 (half-Cauchy priors).
///
/// rows  n x p columns of the model at the runs   headroom  n, not a number without a reading
Eigen::MatrixXd headroom_draws(const doe::Model& model, const Eigen::MatrixXd& rows,
                               const std::vector<bool>& completed, const Eigen::VectorXd& headroom,
                               const InfeasibleDirections& infeasible_when, int draws);

}  // namespace doetune::surfaces
