// Local minimisation of a design's maximum prediction variance.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>

#include "doe/optimal/variance_peaks.h"

namespace doetune::doe {

/// The search for n rows that, with the fixed information, minimise the maximum of d(x) = f(x)'
/// M^-1 f(x) over the region, with M = base + sum of f(x_i) f(x_i)'.
struct MinimaxProblem {
  PeakFinder finder;
  int runs = 0;
  Eigen::MatrixXd base;  ///< p x p: information of fixed runs
};

/// The maximum of d is replaced by smooth maxima ln(sum exp(b r_j)) / b of its peaks r_j = ln d_j,
/// sharper for larger b: b = `first`, `factor` times that, ... up to `last`.
struct Sharpening {
  double first = 0;
  double factor = 0;
  double last = 0;
};

/// One search from a given design, n x coordinates.
///
/// Numeric factors move jointly. With J the Jacobian of the peaks r (to first order d changes at a
/// peak as if the peak stayed in place), weights w_j ~ exp(b r_j) with sum 1 and g = J' w the
/// gradient of the smooth maximum, steps s from
///
///   (b (J' W J - g g') + l I) s = -g,   W = diag(w),
///
/// decrease it; l decreases after a successful step and increases after a failed one
/// (Levenberg-Marquardt). Discrete levels are then tried one by one.
///
/// Source of the smooth maximum: Charalambous (1979), Mathematical Programming 17, 265-297.
class MinimaxDescent {
 public:
  /// `stop` is polled often; once it returns true, the descent ends with the current design.
  MinimaxDescent(const MinimaxProblem& problem, Eigen::MatrixXd design, std::function<bool()> stop);

  void descend(const Sharpening& sharpening);

  /// Rounds to usable settings, and improves the design among neighbouring settings. The maximum is
  /// not smooth at the optimum, so rounding alone would cost far more than for other criteria.
  void settle(const Sharpening& sharpening);

  /// The best design so far (after settling: with usable settings) and the largest d found for it;
  /// infinite if M is singular.
  const Eigen::MatrixXd& design() const { return best_design_; }
  double value() const { return best_; }

 private:
  struct State {
    Eigen::MatrixXd design;
    Eigen::MatrixXd information;  ///< M
    Eigen::MatrixXd inverse;      ///< M^-1
    Peaks peaks;
    double smooth = 0;
  };

  std::optional<State> evaluate(Eigen::MatrixXd design);
  bool adopt(std::optional<State> next);
  bool move_numbers();
  bool step();
  Eigen::MatrixXd slopes() const;
  Eigen::MatrixXd moved(const Eigen::MatrixXd& slopes, const Eigen::VectorXd& weights) const;
  void move_run(const Eigen::VectorXd& step, Eigen::Ref<Eigen::VectorXd> run) const;
  bool change_levels();
  bool change_to_neighbours();
  bool change_level(Eigen::Index run, int coordinate, double value);

  const MinimaxProblem& problem_;
  std::function<bool()> stop_;
  bool has_numbers_ = false;
  bool has_levels_ = false;
  double sharpness_ = 0;  ///< b
  double damping_ = 1;    ///< l
  std::optional<State> state_;
  Eigen::MatrixXd best_design_;
  double best_;
};

}  // namespace doetune::doe
