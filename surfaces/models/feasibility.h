// Feasibility of settings: the probability that a run completes.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "doe/model.h"
#include "surfaces/fit.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

/// The probability that a run at x completes, 1 / (1 + exp(-eta)), eta = x'b over the columns of
/// `model`.
///
/// b maximises Firth's penalised likelihood ln L(b) + ln |X'WX| / 2, W = diag(pi (1 - pi)): finite
/// even if the completed and the infeasible runs are separable, and nearly unbiased. (X'WX)^-1 is
/// the p x p covariance of b. Sources: Firth (1993), Biometrika 80, 27; Heinze & Schemper (2002),
/// Statistics in Medicine 21, 2409.
struct Feasibility {
  doe::Model model;
  int completed = 0, infeasible = 0;      ///< runs
  std::vector<Coefficient> coefficients;  ///< of eta; Wald t and p, normal
  double penalised_log_likelihood = 0;
  std::string note;  ///< plain-language summary of what the runs show and do not show

  Eigen::VectorXd beta;        ///< p
  Eigen::MatrixXd covariance;  ///< p x p

  double probability(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const;

  /// Wald's interval of eta transformed to the probability, so it stays within [0, 1]. For
  /// separable runs it is wide, as it should be.
  Interval interval(const Eigen::Ref<const Eigen::VectorXd>& coded_point,
                    double level = 0.95) const;
};

/// Fits a given model by Fisher scoring with step halving.
///
/// coded  n x k points, one row per run     completed  n: whether the run completed
/// Throws FitError if there are no runs, or they do not determine the model, naming the aliased
/// terms.
Feasibility fit_feasibility(const doe::Model& model, const Eigen::MatrixXd& coded,
                            const std::vector<bool>& completed);

/// The same with a model chosen from the runs: interactions if X has full rank and there are at
/// least as many completed and as many infeasible runs as columns; otherwise linear in the factors
/// that the runs determine. If all runs have the same outcome, the model is 1 and the probability
/// (completed + 1/2) / (n + 1) everywhere.
Feasibility fit_feasibility(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                            const std::vector<bool>& completed);

}  // namespace doetune::surfaces
