// Full factorial designs: all combinations of levels, the first factor changing fastest.
#include <fmt/format.h>

#include <algorithm>

#include "doe/classical/two_level.h"
#include "doe/combinations.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr double kMaxCombinations = 1e6;

/// Three levels if the model has powers, so that curvature can be estimated.
int default_levels(const DesignRequest& request) {
  for (const Term& term : request.model.terms()) {
    for (const int power : term.powers) {
      if (power > 1) return 3;
    }
  }
  return 2;
}

/// The levels of a factor in coded units: all usable settings of a discrete or categorical factor
/// (or of an integer factor with few), otherwise equally spaced in coded units.
std::vector<double> settings_of(const Factor& factor, int levels) {
  std::vector<double> coded;
  if (factor.is_categorical() || factor.kind == FactorKind::kDiscrete ||
      (factor.kind == FactorKind::kInteger && factor.high - factor.low < levels)) {
    for (const double x : factor.usable_settings()) coded.push_back(factor.to_coded(x));
    return coded;
  }
  for (int i = 0; i < levels; ++i) {
    const double even = 2.0 * i / (levels - 1) - 1;
    coded.push_back(factor.to_coded(factor.snap(factor.to_natural(even))));
  }
  coded.erase(std::unique(coded.begin(), coded.end()), coded.end());
  return coded;
}

}  // namespace

Design full_factorial(const DesignRequest& request) {
  require_factors(request, "full-factorial", 1);
  const int levels = request.options.levels.value_or(default_levels(request));
  if (levels < 2 || levels > kMaxCombinations) {
    throw DesignError(fmt::format("full-factorial: levels are 2 to {:.0f}", kMaxCombinations));
  }
  std::vector<std::vector<double>> settings;
  double runs = 1;
  for (const Factor& factor : request.factors) {
    settings.push_back(settings_of(factor, levels));
    runs *= static_cast<double>(settings.back().size());
  }
  if (runs > kMaxCombinations) {
    throw DesignError(
        fmt::format("full-factorial has {:.0f} runs, more than {:.0f}; fractional-factorial and "
                    "plackett-burman need far fewer",
                    runs, kMaxCombinations));
  }
  Design design;
  for (Eigen::VectorXd& point : combinations(settings)) {
    design.points.push_back({std::move(point), PointType::kFactorial});
  }
  append_center_runs_to_blocks(request, request.options.center_runs.value_or(0), 1, design);
  return design;
}

}  // namespace doetune::doe
