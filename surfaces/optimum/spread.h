// Selection of a few points that are far apart.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <vector>

namespace doetune::surfaces {

/// The rows `first` of n x d points, then repeatedly the row farthest from all before (in the
/// maximum norm), until `most` are chosen or none is at least `least` away.
inline std::vector<Eigen::Index> spread_rows(const Eigen::MatrixXd& points,
                                             std::vector<Eigen::Index> first, std::size_t most,
                                             double least) {
  Eigen::VectorXd distance =
      Eigen::VectorXd::Constant(points.rows(), std::numeric_limits<double>::infinity());
  const auto look_at = [&](Eigen::Index row) {
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      distance[i] = std::min(distance[i], (points.row(i) - points.row(row)).cwiseAbs().maxCoeff());
    }
  };
  std::vector<Eigen::Index> chosen = std::move(first);
  for (const Eigen::Index row : chosen) look_at(row);
  while (chosen.size() < most && points.rows() > 0) {
    Eigen::Index farthest = 0;
    if (distance.maxCoeff(&farthest) < least) break;
    chosen.push_back(farthest);
    look_at(farthest);
  }
  return chosen;
}

}  // namespace doetune::surfaces
