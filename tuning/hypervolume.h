// The volume that a Pareto front dominates.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace doetune::tuning {

/// Points of d goals, larger is better, that no other dominates, and the volume between them and
/// the origin, for expected hypervolume improvement. What lies below 0 in any goal has no volume.
/// Source: While, Bradstreet & Barone (2012), A Fast Way of Calculating Exact Hypervolumes, IEEE
/// Trans. Evol. Comput. 16, 86: exclusive volumes, one goal less at each step.
class Front {
 public:
  explicit Front(const std::vector<std::vector<double>>& points);

  const std::vector<std::vector<double>>& points() const { return points_; }
  double volume() const { return volume_; }

  /// By how much a point would enlarge the volume.
  double added_by(const std::vector<double>& point) const;

 private:
  std::vector<std::vector<double>> points_;  ///< in descending order
  double volume_ = 0;
};

}  // namespace doetune::tuning
