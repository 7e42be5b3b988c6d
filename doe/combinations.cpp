#include "doe/combinations.h"

namespace doetune::doe {

std::vector<Eigen::VectorXd> combinations(const std::vector<std::vector<double>>& values) {
  std::vector<Eigen::VectorXd> points{Eigen::VectorXd::Zero(values.size())};
  for (std::size_t f = 0; f < values.size(); ++f) {
    std::vector<Eigen::VectorXd> extended;
    for (const double value : values[f]) {
      for (const Eigen::VectorXd& point : points) {
        extended.push_back(point);
        extended.back()[f] = value;
      }
    }
    points = std::move(extended);
  }
  return points;
}

std::vector<Eigen::VectorXd> categorical_combinations(const std::vector<Factor>& factors) {
  std::vector<std::vector<double>> values;
  for (const Factor& factor : factors) {
    values.push_back(factor.is_categorical() ? factor.usable_settings() : std::vector<double>{0});
  }
  return combinations(values);
}

Eigen::VectorXd categorical_combination(const std::vector<Factor>& factors, std::size_t number) {
  Eigen::VectorXd point = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(factors.size()));
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) continue;
    const std::size_t levels = factors[f].level_names.size();
    point[static_cast<Eigen::Index>(f)] = static_cast<double>(number % levels);
    number /= levels;
  }
  return point;
}

std::vector<int> numeric_factors(const std::vector<Factor>& factors) {
  std::vector<int> numeric;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) numeric.push_back(static_cast<int>(f));
  }
  return numeric;
}

void append_center_runs(const DesignRequest& request, int runs, Design& design) {
  for (const Eigen::VectorXd& combination : categorical_combinations(request.factors)) {
    for (int run = 0; run < runs; ++run) {
      design.points.push_back({combination, PointType::kCenter});
    }
  }
}

}  // namespace doetune::doe
