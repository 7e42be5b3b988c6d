#include "doe/classical/across_categories.h"

#include <fmt/format.h>

#include "doe/combinations.h"

namespace doetune::doe {

std::vector<DesignPoint> across_categories(const DesignRequest& request,
                                           const std::vector<DesignPoint>& numeric_points,
                                           std::string_view type) {
  constexpr double kMaxRuns = 1e6;
  auto runs = static_cast<double>(numeric_points.size());
  for (const Factor& factor : request.factors) {
    if (factor.is_categorical()) runs *= static_cast<double>(factor.level_names.size());
  }
  if (runs > kMaxRuns) {
    throw DesignError(fmt::format(
        "{} at every combination of categorical levels has {:.0f} runs, more than {:.0f}", type,
        runs, kMaxRuns));
  }
  const std::vector<int> numeric = numeric_factors(request.factors);
  std::vector<DesignPoint> points;
  for (const Eigen::VectorXd& combination : categorical_combinations(request.factors)) {
    for (const DesignPoint& numeric_point : numeric_points) {
      DesignPoint point = numeric_point;
      point.coded = combination;
      for (std::size_t i = 0; i < numeric.size(); ++i) {
        point.coded[numeric[i]] = numeric_point.coded[i];
      }
      points.push_back(std::move(point));
    }
  }
  return points;
}

}  // namespace doetune::doe
