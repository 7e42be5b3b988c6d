// The shape of a fitted surface: its quadratic form, the certainty of its kind, and paths on it.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "doe/region.h"
#include "surfaces/fit.h"

namespace doetune::surfaces {

/// A surface on the scale of the fit as a quadratic in its numeric factors, with categorical
/// factors at fixed levels.
struct Quadratic : QuadraticForm {
  std::vector<int> factors;  ///< indices of the numeric factors, in the order of the variables
};

/// The quadratic of a fit with its categorical factors at the levels of the coded point `at` (whose
/// numeric entries are ignored). Empty for a model with numeric terms above order two, or without
/// numeric factors.
std::optional<Quadratic> quadratic_of(const Fit& fit, const Eigen::VectorXd& at);

/// The stationary point in the numeric factors, with categorical factors at the levels of the coded
/// point `at`; its eigenvectors have zeros for these. Empty if some direction has no curvature, or
/// if quadratic_of is empty.
std::optional<StationaryPoint> stationary_point_at(const Fit& fit, const Eigen::VectorXd& at);

/// Certainty of the kind of a stationary point.
///
/// eigenvalue errors: the coefficient of the square along an eigenvector v is v'Bv, linear in b for
/// fixed v, so its standard error is exact to first order. Source: Bisgaard & Ankenman (1996),
/// Technometrics 38, 238.
/// Probabilities: the fraction of draws b + s_draw C^(1/2) u of the coefficients (Student's t with
/// the fit's degrees of freedom: the posterior under a flat prior) whose matrix is negative
/// definite, positive definite, or neither. They refer to the response, not to its inverse.
struct ShapeCertainty {
  Eigen::VectorXd eigenvalue_errors;            ///< in the order of the fit's eigenvalues
  std::vector<Interval> eigenvalue_intervals;   ///< 95 %
  double maximum = 0, minimum = 0, saddle = 0;  ///< probabilities, sum 1
};

/// Empty without a stationary point or an error estimate.
std::optional<ShapeCertainty> shape_certainty(const Fit& fit, int draws = 2000,
                                              std::uint64_t seed = 1);

/// A point on a path through the region.
struct PathPoint {
  double distance = 0;           ///< from the centre, coded units
  Eigen::VectorXd coded;         ///< one entry per factor
  std::vector<double> settings;  ///< natural units, not snapped
  Prediction prediction;
  bool inside_region = false;  ///< within the coded cube and allowed by the constraints
};

/// Ridge analysis: the maximum (or minimum) response at each distance from the centre, from 0 to
/// `farthest` in steps of `step`. With r the distance, the point solves (B - mu I) c = -b / 2 with
/// |c| = r and mu above every eigenvalue of B (below, for the minimum): the global extreme on the
/// sphere, proven by the multiplier. Ends after the first point outside the region.
/// Source: Draper (1963), Technometrics 5, 469; Hoerl (1959).
/// Empty if quadratic_of is.
std::vector<PathPoint> ridge_path(const Fit& fit, const doe::Region& region,
                                  const Eigen::VectorXd& at, bool highest, double step = 0.1,
                                  double farthest = 2);

/// The path of steepest ascent from the centre along the gradient there (descent: against it), in
/// steps of `step` coded units of the factor that changes most, until the first point `farthest`
/// coded units out; points outside the region are extrapolations and marked as such.
/// Source: Box & Wilson (1951), JRSS B 13, 1; Myers, Montgomery & Anderson-Cook, ch. 5.
struct SteepestPath {
  Eigen::VectorXd direction;  ///< coded, largest entry of size 1
  std::vector<PathPoint> points;
  /// Fraction of all directions inside the 95 % confidence cone about the path: small means
  /// certain. Empty without an error estimate; 0.5 or more if the direction is not determined at
  /// all.
  /// Source: Box & Draper, Response Surfaces, Mixtures, and Ridge Analyses, 6.3.
  std::optional<double> cone_fraction;
};

/// Empty if the gradient vanishes, or quadratic_of is empty.
std::optional<SteepestPath> steepest_path(const Fit& fit, const doe::Region& region,
                                          const Eigen::VectorXd& at, bool ascent, double step = 0.2,
                                          double farthest = 2);

}  // namespace doetune::surfaces
