// The shape of a fitted surface: its quadratic form, how sure its kind is, and where it rises.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "doe/region.h"
#include "surfaces/fit.h"

namespace doetune::surfaces {

/// A surface on the scale of the fit over its numeric factors, with the categorical ones at fixed
/// levels.
struct Quadratic : QuadraticForm {
  std::vector<int> factors;  ///< the numeric factors, by index, in the order of the variables
};

/// The quadratic of a fit with its categorical factors at the levels of the coded point `at` (its
/// numeric entries do not matter). Empty for a model with numeric terms above order two, or
/// without numeric factors.
std::optional<Quadratic> quadratic_of(const Fit& fit, const Eigen::VectorXd& at);

/// Where the gradient along the numeric factors vanishes, with the categorical ones at the levels
/// of the coded point `at`; its eigenvectors have zeros for these. Empty without curvature in some
/// direction, or where quadratic_of is.
std::optional<StationaryPoint> stationary_point_at(const Fit& fit, const Eigen::VectorXd& at);

/// How sure the kind of a stationary point is.
///
/// eigenvalue errors: the coefficient of the square along an eigenvector v is v'Bv, linear in b for
/// fixed v, so its standard error is exact to first order. Source: Bisgaard & Ankenman (1996),
/// Technometrics 38, 238.
/// Probabilities: the share of draws b + s_draw C^(1/2) u of the coefficients (Student's t with the
/// fit's degrees of freedom: the posterior under a flat prior) whose matrix is negative definite,
/// positive definite, or neither. They name the kind of the response, not of its inverse.
struct ShapeCertainty {
  Eigen::VectorXd eigenvalue_errors;            ///< in the order of the fit's eigenvalues
  std::vector<Interval> eigenvalue_intervals;   ///< 95 %
  double maximum = 0, minimum = 0, saddle = 0;  ///< probabilities, sum 1
};

/// Empty without a stationary point or an error estimate.
std::optional<ShapeCertainty> shape_certainty(const Fit& fit, int draws = 2000,
                                              std::uint64_t seed = 1);

/// A place on a path through the region.
struct PathPoint {
  double distance = 0;           ///< from the centre, coded units
  Eigen::VectorXd coded;         ///< one entry a factor
  std::vector<double> settings;  ///< natural units, not snapped
  Prediction prediction;
  bool inside_region = false;  ///< within the coded cube and allowed by the constraints
};

/// Ridge analysis: the highest (or lowest) response at each distance from the centre, from 0 to
/// `farthest` in steps of `step`. With r the distance, the point solves (B - mu I) c = -b / 2 with
/// |c| = r and mu above every eigenvalue of B (below, for the lowest): the global extreme on the
/// sphere, proven by the multiplier. Ends after the first point outside the region.
/// Source: Draper (1963), Technometrics 5, 469; Hoerl (1959).
/// Empty where quadratic_of is.
std::vector<PathPoint> ridge_path(const Fit& fit, const doe::Region& region,
                                  const Eigen::VectorXd& at, bool highest, double step = 0.1,
                                  double farthest = 2);

/// The path of steepest ascent from the centre along the gradient there (descent: against it), in
/// steps of `step` coded units of the factor that moves most, until the first point `farthest`
/// coded units out; what lies outside the region is extrapolation, and says so.
/// Source: Box & Wilson (1951), JRSS B 13, 1; Myers, Montgomery & Anderson-Cook, ch. 5.
struct SteepestPath {
  Eigen::VectorXd direction;  ///< coded, largest entry of size 1
  std::vector<PathPoint> points;
  /// Share of all directions that the 95 % confidence cone about the path holds: small is sure.
  /// Empty without an error estimate; 0.5 or more where the path is not determined at all.
  /// Source: Box & Draper, Response Surfaces, Mixtures, and Ridge Analyses, 6.3.
  std::optional<double> cone_share;
};

/// Empty where the gradient vanishes, or quadratic_of is empty.
std::optional<SteepestPath> steepest_path(const Fit& fit, const doe::Region& region,
                                          const Eigen::VectorXd& at, bool ascent, double step = 0.2,
                                          double farthest = 2);

}  // namespace doetune::surfaces
