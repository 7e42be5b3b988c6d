// The exact optimum of a quadratic on a box.
#pragma once

#include <Eigen/Core>

#include "surfaces/surface.h"

namespace doetune::surfaces {

struct BoxOptimum {
  Eigen::VectorXd at;  ///< k
  double value = 0;
};

inline constexpr Eigen::Index kMaxBoxFactors = 12;

/// The highest value of q with low <= c <= high, and where it is taken, proven: a highest point is
/// inside some face of the box (its free variables between their ends, the others at one), where
/// the gradient along the face vanishes and the second derivatives along it are not positive. All
/// 3^k faces are looked at, less those on which a variable that only rises, only falls or bends
/// upwards would be free; faces that are flat in some direction have their highest points on
/// smaller ones too. For the lowest value negate q. Source: Nocedal & Wright (2006), Numerical
/// Optimization, ch. 16 (first- and second-order conditions). Throws std::invalid_argument where k
/// is above kMaxBoxFactors.
BoxOptimum highest_in_box(const QuadraticForm& q, const Eigen::VectorXd& low,
                          const Eigen::VectorXd& high);

/// -q.
QuadraticForm negated(const QuadraticForm& q);

}  // namespace doetune::surfaces
