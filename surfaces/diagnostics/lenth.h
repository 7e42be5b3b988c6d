// Lenth's method: significance of effects without degrees of freedom for error.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

namespace doetune::surfaces {

/// For m effect estimates of equal variance, most of them of inactive effects:
///
///   s0   = 1.5 median |c|
///   PSE  = 1.5 median {|c| : |c| < 2.5 s0}, the pseudo standard error
///   ME   = t(0.975; m/3) PSE: an inactive effect exceeds it with probability 5 %
///   SME  = t((1 + 0.95^(1/m)) / 2; m/3) PSE: any of m inactive effects does with probability 5 %
///
/// Source: Lenth (1989), Technometrics 31, 469.
struct LenthMargins {
  double pseudo_error = 0;
  double margin = 0;
  double simultaneous_margin = 0;
};

/// Empty with fewer than three effects, or if most of them are 0.
std::optional<LenthMargins> lenth_margins(const Eigen::VectorXd& effects);

/// Plotting positions of a half-normal plot: the expected i-th smallest of m absolute normal
/// values, i = 1 .. m, as the normal quantile of 1/2 + (i - 1/2) / 2m.
/// Source: Daniel (1959), Technometrics 1, 311.
std::vector<double> half_normal_quantiles(int m);

}  // namespace doetune::surfaces
