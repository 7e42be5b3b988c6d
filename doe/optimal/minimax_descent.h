// A design improved until its largest prediction variance cannot be made smaller nearby.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>

#include "doe/optimal/variance_peaks.h"

namespace doetune::doe {

/// The search for n rows that, added to what is known, make the largest
/// d(x) = f(x)' M^-1 f(x) over the region small, with M = base + sum of f(x_i) f(x_i)'.
struct MinimaxProblem {
  PeakFinder finder;
  int runs = 0;
  Eigen::MatrixXd base;  ///< p x p: information of runs that stay
};

/// The largest d is replaced by smooth maxima ln(sum exp(b r_j)) / b of its peaks r_j = ln d_j, the
/// sharper the larger b: `first`, `factor` times that, ... up to `last`.
struct Sharpening {
  double first = 0;
  double factor = 0;
  double last = 0;
};

/// One search from a given design, n x coordinates.
///
/// Numbers move together. With J the slopes of the peaks r (at a peak d changes as if the peak
/// stayed where it is), w_j ~ exp(b r_j) of sum 1 and g = J' w the slope of the smooth maximum,
/// steps s of
///
///   (b (J' W J - g g') + l I) s = -g,   W = diag(w),
///
/// lower it; l falls where a step succeeds and grows where it fails (Levenberg & Marquardt). After
/// the numbers, levels are tried one by one.
///
/// Source of the smooth maximum: Charalambous (1979), Mathematical Programming 17, 265-297.
class MinimaxDescent {
 public:
  /// `stop` is asked often; where it says true, the descent ends at what there is.
  MinimaxDescent(const MinimaxProblem& problem, Eigen::MatrixXd design, std::function<bool()> stop);

  void descend(const Sharpening& sharpening);

  /// Rounds to usable settings, and improves the design among those next to its own. The maximum is
  /// not smooth at the best design, so rounding alone would cost far more than of other criteria.
  void settle(const Sharpening& sharpening);

  /// The best design yet (after settling: of usable settings), and the largest d that was found of
  /// it; infinite where M is singular.
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
