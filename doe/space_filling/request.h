// Handling of requests common to the space-filling builders.
#pragma once

#include <Eigen/Core>

#include "base/random.h"
#include "doe/design.h"

namespace doetune::doe {

/// The number of points to place: the requested runs without replicates and centre runs. Throws
/// DesignError if the study gives no number, or one that does not fit the other options.
int points_to_place(const DesignRequest& request, const char* type);

/// A point of the unit cube in coded units.
Eigen::VectorXd coded_of(const std::vector<Factor>& factors, const Eigen::VectorXd& point);

/// The design of points of the unit cube (one per row), followed by its centre runs.
Design filling_design(const DesignRequest& request, const Eigen::MatrixXd& points);

/// Whether the region allows a point of the unit cube with usable settings.
bool allows_point(const DesignRequest& request, const Eigen::VectorXd& point);

/// A uniformly random usable point of the factor box, in the unit cube.
Eigen::VectorXd random_point(const std::vector<Factor>& factors, RandomStream& random);

struct RegionSample {
  Eigen::MatrixXd points;
  int tried = 0;
  int allowed = 0;
};

/// Up to `wanted` distinct allowed points (one per row), drawn at random from the factor box; fewer
/// where there are no more, as far as many tries in vain show. Throws DesignError if none of
/// 1,000,000 is allowed.
RegionSample sample_region(const DesignRequest& request, int wanted);

}  // namespace doetune::doe
