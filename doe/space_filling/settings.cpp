#include "doe/space_filling/settings.h"

#include <algorithm>
#include <cmath>

namespace doetune::doe {

double setting_count(const Factor& factor) {
  if (factor.kind == FactorKind::kInteger) return factor.high - factor.low + 1;
  if (factor.kind == FactorKind::kContinuous && factor.step > 0) {
    return std::floor((factor.high - factor.low) / factor.step + 1e-9) + 1;
  }
  return static_cast<double>(factor.usable_settings().size());
}

double unit_setting(const Factor& factor, double coded) {
  if (!factor.is_categorical()) return (coded + 1) / 2;
  return (coded + 0.5) / static_cast<double>(factor.level_names.size());
}

double coded_setting(const Factor& factor, double unit) {
  if (factor.is_categorical()) {
    return factor.snap(unit * static_cast<double>(factor.level_names.size()) - 0.5);
  }
  return factor.to_coded(factor.snap(factor.to_natural(2 * unit - 1)));
}

double usable_setting(const Factor& factor, double u) {
  if (factor.kind == FactorKind::kDiscrete) {
    const auto index = static_cast<std::size_t>(u * static_cast<double>(factor.levels.size()));
    return unit_setting(factor, factor.to_coded(factor.levels[index]));
  }
  if (factor.kind == FactorKind::kInteger && factor.scale == Scale::kLinear) {
    const double value = factor.low + std::floor(u * setting_count(factor));
    return unit_setting(factor, factor.to_coded(value));
  }
  return unit_setting(factor, coded_setting(factor, u));
}

Eigen::VectorXd balanced_settings(const Factor& factor, int runs, Spread spread) {
  Eigen::VectorXd settings(runs);
  if (factor.is_categorical() || setting_count(factor) < runs) {
    const std::vector<double> usable = factor.usable_settings();
    for (int i = 0; i < runs; ++i) {
      const std::size_t level = static_cast<std::size_t>(i) * usable.size() / runs;
      settings[i] = unit_setting(factor, factor.to_coded(usable[level]));
    }
    return settings;
  }
  for (int i = 0; i < runs; ++i) {
    const double level = spread == Spread::kEnds && runs > 1 ? static_cast<double>(i) / (runs - 1)
                                                             : (i + 0.5) / runs;
    settings[i] = unit_setting(factor, coded_setting(factor, level));
  }
  return settings;
}

}  // namespace doetune::doe
