// Coordinate exchange for split-plot designs: hard-to-change factors are constant in a whole plot.
//
// Source: Goos & Vandebroek (2001), "Optimal split-plot designs", Journal of Quality Technology 33,
// 436-450; Jones & Goos (2007), "A candidate-set-free algorithm for generating D-optimal split-plot
// designs", Applied Statistics 56, 347-364.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <vector>

#include "doe/optimal/exchange.h"
#include "doe/optimal/search.h"

namespace doetune::doe {

/// The search for n rows with the best information matrix where the runs of a whole plot share an
/// error with eta times the variance of a run's error:
///
///   M = base + X' S^-1 X,   S = I + eta Z Z'   (Z: n x whole plots, 1 where a run is in one)
///     = base + sum over whole plots of (F'F - c r r'),   c = eta / (1 + m eta),
///
/// where F are the m rows of a whole plot and r is their sum.
struct SplitPlotProblem {
  ExchangeProblem exchange;   ///< space, runs, base and criterion; without blocks
  std::vector<bool> hard;     ///< per factor: constant within a whole plot
  std::vector<int> sizes;     ///< runs of each whole plot, in the order of a design's rows
  double variance_ratio = 1;  ///< eta
};

/// Sizes of whole plots, as equal as possible, larger ones first.
std::vector<int> whole_plot_sizes(int runs, int whole_plots);

/// The information of the m x p rows of one whole plot: F'F - c r r'.
Eigen::MatrixXd whole_plot_information(const Eigen::MatrixXd& rows, double variance_ratio);

/// A design under improvement, with its M and M^-1.
class SplitPlotExchange {
 public:
  /// `ridge` is added to the diagonal of M, so that a singular design can be improved.
  SplitPlotExchange(const SplitPlotProblem& problem, Eigen::MatrixXd design, double ridge = 0);

  const Eigen::MatrixXd& design() const { return design_; }

  /// As information_value; empty if M is singular, and then nothing below may be called.
  std::optional<double> value() const { return value_; }

  /// The factor by which |M| grows, tr(M^-1 W) decreases, or their compound grows, when one
  /// coordinate of a run takes a given value.
  ///
  /// With d = c / (1 - c) and r the sum of the other rows of its whole plot, a run's row f
  /// contributes (1 - c) g g', g = f - d r, to M in addition to the whole plot without the run. So
  /// |M| is a quadratic form in f, and f is linear in the features of the coordinate.
  class RunLine {
   public:
    RunLine(const SplitPlotExchange& exchange, int run, int coordinate);
    double gain(double x) const;

   private:
    static constexpr int kMax = kMaxFeatures + 1;
    using Features = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMax, 1>;
    using Form = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMax, kMax>;

    Features features(double x) const;

    const Coordinate& coordinate_;
    int columns_;         ///< p
    double share_;        ///< weight of ln |M| in the criterion
    double total_;        ///< tr(V W)
    Form form_, form_b_;  ///< H'VH and H'VWVH, sqrt(1 - c) g = H (1, features)
    Features present_;
  };

  /// Tries every coordinate once and moves those with at least this relative gain of the criterion;
  /// true if any moved. `stop` is polled often.
  bool improve(double min_gain, const std::function<bool()>& stop);

 private:
  int first_run(int plot) const { return first_runs_[static_cast<std::size_t>(plot)]; }
  int size(int plot) const { return problem_.sizes[static_cast<std::size_t>(plot)]; }
  bool improve_plot(int plot, int coordinate, double min_gain, const std::function<bool()>& stop);
  bool improve_run(int run, int coordinate, double min_gain);
  Eigen::MatrixXd information_of(int plot) const;
  void refresh();       ///< after a change of M
  void invert() const;  ///< computes V and B unless they are known

  const SplitPlotProblem& problem_;
  Eigen::MatrixXd design_;
  std::vector<int> first_runs_;    ///< of each whole plot
  std::vector<int> plots_;         ///< of each run
  Eigen::MatrixXd rows_;           ///< n x p: the model matrix
  Eigen::MatrixXd information_;    ///< M
  mutable Eigen::MatrixXd v_, b_;  ///< V = M^-1; B = V W V; empty until they are needed
  std::optional<double> value_;
};

/// The best design over many random starts, the same for any number of threads unless time runs
/// out. Without a given number of starts, ends when the best was found ten times, or after 4032.
/// Empty if every design found is singular.
std::optional<SearchResult> search_split_plots(const SplitPlotProblem& problem,
                                               const SearchSettings& settings);

}  // namespace doetune::doe
