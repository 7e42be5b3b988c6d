// Coordinate-wise ascent to a local maximum of a design's prediction variance.
#pragma once

#include <Eigen/Core>

#include "doe/optimal/search_space.h"

namespace doetune::doe {

/// Climbs d(x) = f(x)' V f(x), V p x p, one coordinate at a time: Newton's method for numeric
/// coordinates, exhaustive trial for discrete levels.
///
/// With the features phi of a coordinate and u_a = df / dphi_a, d changes by 2 b' e + e' A e when
/// phi changes by e: A = u' V u, b = u' V f.
class VarianceClimber {
 public:
  /// Both arguments must outlive the climber.
  VarianceClimber(const SearchSpace& space, const Eigen::MatrixXd& v) : space_(space), v_(v) {}

  /// Moves an allowed point until no step of `tolerance` (coded) increases d; returns d there.
  double climb(Eigen::Ref<Eigen::VectorXd> x, double tolerance);

 private:
  void place(const Eigen::Ref<Eigen::VectorXd>& x);
  void sweep(Eigen::Ref<Eigen::VectorXd> x, double tolerance);
  bool slide(double step, Eigen::Ref<Eigen::VectorXd> x);
  bool give_way(int c, double to, Eigen::Ref<Eigen::VectorXd> x);
  void improve(int c, Eigen::Ref<Eigen::VectorXd> x);
  void select(const Coordinate& coordinate);
  bool try_move(int c, double to, Eigen::Ref<Eigen::VectorXd> x);
  double newton_target(double x) const;

  const SearchSpace& space_;
  const Eigen::MatrixXd& v_;
  Eigen::VectorXd slots_;                 ///< all features
  Eigen::VectorXd vf_;                    ///< V f
  double value_ = 0;                      ///< d
  Eigen::MatrixXd vu_;                    ///< of the current coordinate: V u, p x features
  Eigen::MatrixXd form_;                  ///< A
  Eigen::VectorXd slope_;                 ///< b
  Eigen::VectorXd change_, form_change_;  ///< e, A e
};

}  // namespace doetune::doe
