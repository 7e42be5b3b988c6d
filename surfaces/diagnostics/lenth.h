// Which effects stand out where no freedom is left to estimate the error from.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

namespace doetune::surfaces {

/// From m effects of equal variance, most of which are taken to be none:
///
///   s0   = 1.5 median |c|
///   PSE  = 1.5 median {|c| : |c| < 2.5 s0}, the pseudo standard error
///   ME   = t(0.975; m/3) PSE: an effect of none exceeds it with probability 5 %
///   SME  = t((1 + 0.95^(1/m)) / 2; m/3) PSE: any of m such effects does with probability 5 %
///
/// Source: Lenth (1989), Technometrics 31, 469.
struct LenthMargins {
  double pseudo_error = 0;
  double margin = 0;
  double simultaneous_margin = 0;
};

/// Empty with fewer than three effects, or where most of them are 0.
std::optional<LenthMargins> lenth_margins(const Eigen::VectorXd& effects);

/// The places of a half-normal plot: where the i-th smallest of m sizes of normal numbers lies,
/// i = 1 .. m: the normal quantile of 1/2 + (i - 1/2) / 2m.
/// Source: Daniel (1959), Technometrics 1, 311.
std::vector<double> half_normal_quantiles(int m);

}  // namespace doetune::surfaces
