// Exact optimum of a quadratic on a box.
#pragma once

#include <Eigen/Core>

#include "surfaces/surface.h"

namespace doetune::surfaces {

struct BoxOptimum {
  Eigen::VectorXd at;  ///< k
  double value = 0;
};

inline constexpr Eigen::Index kMaxBoxFactors = 12;

/// The proven maximum of q on low <= c <= high, and its location. A maximum lies in the interior of
/// some face of the box (free variables between their ends, the others at an end), where the
/// gradient along the face vanishes and the second derivatives along it are not positive. All 3^k
/// faces are visited, except those on which a monotone or convex variable would be free; faces that
/// are flat in some direction also have their maximum on smaller faces. For the minimum negate q.
/// Source: Nocedal & Wright (2006), Numerical Optimization, ch. 16 (first- and second-order
/// conditions). Throws std::invalid_argument if k exceeds kMaxBoxFactors.
BoxOptimum highest_in_box(const QuadraticForm& q, const Eigen::VectorXd& low,
                          const Eigen::VectorXd& high);

/// Returns -q.
QuadraticForm negated(const QuadraticForm& q);

}  // namespace doetune::surfaces
