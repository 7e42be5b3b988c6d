// Confirmation runs: whether new measurements agree with a prediction.
#pragma once

#include <optional>
#include <vector>

#include "surfaces/surface.h"

namespace doetune::surfaces {

/// The measurements of n runs at one point as a prediction of further runs there: their mean on the
/// scale of the transform, its standard error s / sqrt n, their standard deviation s, and n - 1
/// degrees of freedom. A value outside the transform's domain counts as the end of its domain, and
/// leaves no intervals. n >= 1.
Prediction measured_mean(const Transform& transform, const std::vector<double>& values);

/// The prediction interval of the mean of n further runs at the point:
///   mean +- t sqrt(standard_error^2 + sigma^2 / n)
/// For a polynomial without whole plots this is t s sqrt(x' (X'X)^-1 x + 1 / n). If the error of
/// the next run has other degrees of freedom than the mean's, those of t are in between: with
/// a = standard_error^2 and v = a + sigma^2 / n,
///   df^-1/2 = (1 - 1 / n) (a / v) df_mean^-1/2 + (1 / n) ((a + sigma^2) / v) df_next^-1/2,
/// the smallest that Satterthwaite's (1946, Biometrics Bulletin 2, 110) allow, whatever the
/// correlation of the two estimates. Sources: Myers, Montgomery & Anderson-Cook, Response Surface
/// Methodology, 2.7; NIST/SEMATECH e-Handbook, 4.5.1.2. Empty without an error estimate.
std::optional<Interval> mean_range(const Prediction& prediction, int n, double level = 0.95);

/// Whether a measured mean lies in the range, up to the rounding of deterministic responses.
bool agrees(const Interval& range, double measured);

}  // namespace doetune::surfaces
