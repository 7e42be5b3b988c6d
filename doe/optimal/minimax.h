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

/// One search from a given design, n x coordinates.
///
/// Numbers move together: with r_j the logarithms of d at its peaks and J their slopes (at a peak,
/// d changes as if it stayed where it is), steps of
///
///   (b (J' W J - g g') + l I) step = -g,   W = diag(w), w_j ~ exp(b r_j), g = J' w
///
/// lower the smooth maximum ln(sum exp(b r_j)) / b, for growing b; l is lowered where a step
/// succeeds and raised where it fails (Levenberg & Marquardt). Levels are tried one by one.
///
/// Source of the smooth maximum: Charalambous (1979), Mathematical Programming 17, 265-297.
class MinimaxSearch {
 public:
  MinimaxSearch(const MinimaxProblem& problem, Eigen::MatrixXd design, std::function<bool()> stop);

  /// Steps for sharpness b = first, factor * first, ... up to last, at most `steps` each.
  void descend(double first, double factor, double last, int steps);

  /// The best design yet, and the largest d that was found of it; infinite where M is singular.
  const Eigen::MatrixXd& design() const { return best_design_; }
  double value() const { return best_; }

 private:
  struct State {
    Eigen::MatrixXd design;
    Eigen::MatrixXd inverse;  ///< M^-1
    Peaks peaks;
    double smooth = 0;
  };

  std::optional<State> evaluate(Eigen::MatrixXd design, double sharpness);
  bool step(double sharpness);
  Eigen::MatrixXd slopes() const;
  Eigen::MatrixXd moved(const Eigen::MatrixXd& slopes, const Eigen::VectorXd& weights,
                        double sharpness) const;
  bool improve_levels(double sharpness);

  const MinimaxProblem& problem_;
  std::function<bool()> stop_;
  double damping_ = 1;
  std::optional<State> state_;
  Eigen::MatrixXd best_design_;
  double best_;
};

}  // namespace doetune::doe
