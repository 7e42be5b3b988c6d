// Face-centred central composite design: 2^k corners, 2k face centres, and centre runs.
//
// Box & Wilson (1951), with alpha = 1; three levels a factor. With L combinations of categorical
// levels the design over the numeric factors is run at each combination:
// L (2^k + 2k + center_runs) runs. Two blocks hold the corners and the face centres, each with half
// of the centre runs.
#include <fmt/format.h>

#include "doe/combinations.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr int kMostNumericFactors = 10;
constexpr int kCenterRuns = 6;

using Points = std::vector<DesignPoint>;

Points numeric_points(int k, const DesignRequest& request) {
  Points points;
  const int center_runs = request.options.center_runs.value_or(kCenterRuns);
  const int axial_block = request.options.blocks == 2 ? 2 : 1;
  for (int corner = 0; corner < 1 << k; ++corner) {
    Eigen::VectorXd x(k);
    for (int f = 0; f < k; ++f) x[f] = (corner >> f & 1) != 0 ? 1 : -1;
    points.push_back({x, PointType::kFactorial});
  }
  for (int f = 0; f < k; ++f) {
    for (const double side : {-1.0, 1.0}) {
      points.push_back({side * Eigen::VectorXd::Unit(k, f), PointType::kAxial, axial_block});
    }
  }
  for (int run = 0; run < center_runs; ++run) {
    const bool first_half = run < (center_runs + 1) / 2;
    points.push_back({Eigen::VectorXd::Zero(k), PointType::kCenter, first_half ? 1 : axial_block});
  }
  return points;
}

}  // namespace

Design face_centred_ccd(const DesignRequest& request) {
  const std::vector<int> numeric = numeric_factors(request.factors);
  if (numeric.empty()) throw DesignError("fccd needs at least one numeric factor");
  if (numeric.size() > kMostNumericFactors) {
    throw DesignError(
        fmt::format("fccd with {} numeric factors has over {} runs; at most {} factors",
                    numeric.size(), 1 << numeric.size(), kMostNumericFactors));
  }
  if (request.options.blocks > 2) {
    throw DesignError("fccd can be run in 1 block, or in 2: corners, then face centres");
  }
  Design design;
  const Points base = numeric_points(static_cast<int>(numeric.size()), request);
  for (const Eigen::VectorXd& combination : categorical_combinations(request.factors)) {
    for (const DesignPoint& numeric_point : base) {
      DesignPoint point = numeric_point;
      point.coded = combination;
      for (std::size_t i = 0; i < numeric.size(); ++i) {
        point.coded[numeric[i]] = numeric_point.coded[i];
      }
      design.points.push_back(std::move(point));
    }
  }
  return design;
}

}  // namespace doetune::doe
