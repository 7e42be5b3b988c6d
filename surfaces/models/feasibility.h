// Feasibility of settings: the probability that a run completes.
#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "doe/model.h"
#include "doe/response.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

/// One entry per factor; empty where nothing is known.
using InfeasibleDirections = std::vector<std::optional<doe::InfeasibleWhen>>;

/// A coefficient of the log odds of completing.
struct FeasibilityTerm {
  std::string term;
  double median = 0;
  Interval interval;  ///< 2.5 % and 97.5 % quantiles
};

/// The probability that a run at x completes, by Bayesian logistic regression on the runs so far:
///
///   P(x) = mean over draws b of the posterior of 1 / (1 + exp(-x'b)),   x'b over the model's
///   columns
///
/// Where completed runs have readings of how far they were from the end of a resource, the draws
/// are those of a regression of these readings: see models/headroom.h.
///
/// At settings that were run themselves, memory decides alike again: each completed run there, or
/// at settings that are known to be harder (infeasible_when) and else the same, multiplies the odds
/// P / (1 - P) by kRanThere. Settings that were also infeasible do not count.
///
/// Coefficients have normal priors about 0 with a standard deviation of 10 for the intercept and
/// the columns of one factor to the first power, and 3 for others: wide enough for the sharp
/// boundaries of memory limits, and the runs need not determine the model. Averaging over the
/// posterior, rather than taking its mode, keeps P near 1 among completed runs and near 1/2 where
/// runs say nothing; the priors were chosen by simulation (bench/coverage). Source: Murray, Adams &
/// MacKay (2010), AISTATS 9, 541 (elliptical slice sampling). The draws are the same at every call.
struct Feasibility {
  doe::Model model;
  int completed = 0, infeasible = 0;  ///< runs
  bool by_headroom = false;           ///< from readings of what a resource had left
  std::vector<FeasibilityTerm> terms;
  std::string note;       ///< plain-language summary of what the runs show and do not show
  Eigen::MatrixXd draws;  ///< one column per draw of the p coefficients
  InfeasibleDirections infeasible_when;             ///< k, or empty
  std::map<std::vector<double>, int> completed_at;  ///< runs by coded point, if all completed

  double probability(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const;

  /// Of m coded points, one per row.
  Eigen::VectorXd probabilities(const Eigen::MatrixXd& coded) const;

  /// The same in each draw of the posterior, one column per draw; their mean is not quite
  /// `probabilities`, which raises the mean where runs completed.
  Eigen::MatrixXd drawn_probabilities(const Eigen::MatrixXd& coded) const;

  /// The central interval of the posterior of the probability at a point.
  Interval interval(const Eigen::Ref<const Eigen::VectorXd>& coded_point,
                    double level = 0.95) const;

  static constexpr double kRanThere = 10;

 private:
  /// The factor of the odds at a point.
  double odds_ratio(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const;
};

/// Whether x is the same as `other` but for factors where it is known to be easier. One value per
/// factor, both natural or both coded.
bool is_no_harder(std::span<const double> x, std::span<const double> other,
                  const InfeasibleDirections& infeasible_when);

/// The posterior given the runs.
///
/// coded  n x k points, one row per run     completed  n: whether the run completed
/// infeasible_when   k, or empty: for each numeric factor whether raising or lowering it never
///                   makes completion likelier, anywhere in the region
/// headroom          n, or empty: ln(capacity / use) of what runs end of, not a number where it was
///                   not read; with fewer than kMinReadings readings, as without any
/// draws  of the posterior: a probability has a Monte-Carlo error of up to 0.5 / sqrt(draws)
/// The model is quadratic up to 100 columns, and linear beyond. Of more than 1,000 runs, 1,000 are
/// used, evenly spread over their order. Throws std::invalid_argument if there are no runs.
Feasibility fit_feasibility(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                            const std::vector<bool>& completed,
                            const InfeasibleDirections& infeasible_when = {}, int draws = 256,
                            const Eigen::VectorXd& headroom = {});

}  // namespace doetune::surfaces
