// What the space-filling builders take from a request in the same way.
#pragma once

#include <Eigen/Core>

#include "base/random.h"
#include "doe/design.h"

namespace doetune::doe {

/// How many points to place: the runs asked for less replicates and centre runs. Throws DesignError
/// where the study names no number, or one that the rest does not fit into.
int points_to_place(const DesignRequest& request, const char* type);

/// The design of points of the unit cube (one a row), then its centre runs.
Design filling_design(const DesignRequest& request, const Eigen::MatrixXd& points);

/// Whether the region allows a point of the unit cube whose settings are usable.
bool allows_point(const DesignRequest& request, const Eigen::VectorXd& point);

/// A uniformly random usable point of the factor box, in the unit cube.
Eigen::VectorXd random_point(const std::vector<Factor>& factors, RandomStream& random);

/// Up to `wanted` different allowed points (one a row), drawn at random from the factor box.
/// Throws DesignError where none of 1,000,000 is allowed.
struct RegionSample {
  Eigen::MatrixXd points;
  int tried = 0;
  int allowed = 0;
};
RegionSample sample_region(const DesignRequest& request, int wanted);

}  // namespace doetune::doe
