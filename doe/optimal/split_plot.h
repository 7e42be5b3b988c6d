// Exchange for runs in whole plots, within which the hard-to-change factors stay as they are.
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

/// The search for n rows with the best information matrix where all runs of a whole plot share an
/// error of their own, with a variance eta times that of a run's:
///
///   M = base + X' S^-1 X,   S = I + eta Z Z'   (Z: n x whole plots, 1 where a run is in one)
///     = base + sum over whole plots of (F'F - c r r'),   c = eta / (1 + m eta),
///
/// F the m rows of a whole plot and r their sum.
struct SplitPlotProblem {
  ExchangeProblem exchange;   ///< space, runs, base and criterion; without blocks
  std::vector<bool> hard;     ///< of each factor: constant within a whole plot
  std::vector<int> sizes;     ///< runs of each whole plot: a design's rows are in this order
  double variance_ratio = 1;  ///< eta
};

/// So many runs in so many whole plots, as equal in size as possible, the larger ones first.
std::vector<int> whole_plot_sizes(int runs, int whole_plots);

/// What the m x p rows of one whole plot tell: F'F - c r r'.
Eigen::MatrixXd whole_plot_information(const Eigen::MatrixXd& rows, double variance_ratio);

/// A design that is being improved, with its M and M^-1.
class SplitPlotExchange {
 public:
  /// `ridge` is added to the diagonal of M: with it a singular design can be improved too.
  SplitPlotExchange(const SplitPlotProblem& problem, Eigen::MatrixXd design, double ridge = 0);

  const Eigen::MatrixXd& design() const { return design_; }

  /// As information_value; empty where M is singular, and then nothing below may be called.
  std::optional<double> value() const { return value_; }

  /// By which factor |M| grows, tr(M^-1 W) falls, or the compound of both grows, when one
  /// coordinate of a run takes a value.
  ///
  /// With d = c / (1 - c) and r the sum of the other rows of its whole plot, a run's row f enters M
  /// as (1 - c) g g', g = f - d r, beside what the whole plot tells without the run. So |M| is a
  /// quadratic form in f, and f is linear in the features of the coordinate.
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
    double share_;        ///< of ln |M| in the criterion
    double total_;        ///< tr(V W)
    Form form_, form_b_;  ///< H'VH and H'VWVH, sqrt(1 - c) g = H (1, features)
    Features present_;
  };

  /// Tries every coordinate once, moving those where the criterion gains so much, relative to
  /// itself; true if any moved. `stop` is asked often.
  bool improve(double min_gain, const std::function<bool()>& stop);

 private:
  int first_run(int plot) const { return first_runs_[static_cast<std::size_t>(plot)]; }
  int size(int plot) const { return problem_.sizes[static_cast<std::size_t>(plot)]; }
  bool improve_plot(int plot, int coordinate, double min_gain, const std::function<bool()>& stop);
  bool improve_run(int run, int coordinate, double min_gain);
  Eigen::MatrixXd information_of(int plot) const;
  void refresh();  ///< all that depends on M

  const SplitPlotProblem& problem_;
  Eigen::MatrixXd design_;
  std::vector<int> first_runs_;  ///< of each whole plot
  std::vector<int> plots_;       ///< of each run
  Eigen::MatrixXd rows_;         ///< n x p: the model matrix
  Eigen::MatrixXd information_;  ///< M
  Eigen::MatrixXd v_, b_;        ///< V = M^-1; B = V W V
  std::optional<double> value_;
};

/// The best design of many random starts, the same for any number of threads unless time runs out.
/// Without a number of starts, until the best was found ten times, or after 4032. Empty where every
/// design that was found is singular.
std::optional<SearchResult> search_split_plots(const SplitPlotProblem& problem,
                                               const SearchSettings& settings);

}  // namespace doetune::doe
