#include "surfaces/diagnostics/lenth.h"

#include <algorithm>
#include <cmath>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

constexpr double kLevel = 0.95;

double median_of_sorted(const std::vector<double>& sorted, std::size_t count) {
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

}  // namespace

std::optional<LenthMargins> lenth_margins(const Eigen::VectorXd& effects) {
  if (effects.size() < 3) return std::nullopt;
  std::vector<double> sizes(effects.begin(), effects.end());
  for (double& size : sizes) size = std::abs(size);
  std::sort(sizes.begin(), sizes.end());
  const double first = 1.5 * median_of_sorted(sizes, sizes.size());
  if (!(first > 0) || !std::isfinite(first)) return std::nullopt;
  const auto kept = std::lower_bound(sizes.begin(), sizes.end(), 2.5 * first) - sizes.begin();
  const double m = static_cast<double>(sizes.size());
  LenthMargins margins;
  margins.pseudo_error = 1.5 * median_of_sorted(sizes, static_cast<std::size_t>(kept));
  if (!(margins.pseudo_error > 0)) return std::nullopt;
  margins.margin = t_quantile(kLevel, m / 3) * margins.pseudo_error;
  margins.simultaneous_margin = t_quantile(std::pow(kLevel, 1 / m), m / 3) * margins.pseudo_error;
  return margins;
}

std::vector<double> half_normal_quantiles(int m) {
  std::vector<double> quantiles;
  for (int i = 1; i <= m; ++i) quantiles.push_back(normal_value(0.5 + (i - 0.5) / (2.0 * m)));
  return quantiles;
}

}  // namespace doetune::surfaces
