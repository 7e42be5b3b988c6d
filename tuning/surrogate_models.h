// Surrogate models: what the runs so far predict for any settings, whether they complete and what
// they measure.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "surfaces/fit.h"
#include "surfaces/models/gaussian_process.h"
#include "tuning/problem.h"

namespace doetune::tuning {

/// Of the parameters of the models: the likeliest only, or all that were drawn.
enum class Draws { kLikeliest, kAll };

/// Normal distributions of the means of a response at m points, on the scale of its transform: one
/// column for each draw of the model's parameters, all equally likely.
struct Means {
  Eigen::MatrixXd mean;       ///< m x draws
  Eigen::MatrixXd deviation;  ///< m x draws
  /// The standard deviation of what a run there would change the mean by: d^2 / sqrt(d^2 + s^2) for
  /// a deviation d and runs that scatter by s. What is known already has little left to learn.
  Eigen::MatrixXd learnt;  ///< m x draws
};

/// The means by a process at m points: one column.
Means predicted(const surfaces::GaussianProcess& process, const Eigen::MatrixXd& coded);

/// The surrogate models of a search: a Gaussian process for each objective, whose parameters are
/// drawn from their posterior, and the feasibility model. Before there are runs enough for a
/// process, the same normal distribution everywhere; a limit on a response that has been the same
/// in all runs, of requests that failed for instance, is taken to remain so. Runs that were ended
/// early are censored runs of the processes (surfaces/models/censored_runs.h), and did not fail.
class SurrogateModels {
 public:
  /// Any number of observations, none included. `completion_draws`: see surfaces::fit_feasibility.
  SurrogateModels(const Problem& problem, const std::vector<Observation>& observations,
                  int completion_draws = 64);

  /// Whether the runs support a model for each objective.
  bool has_models() const;

  /// Of objective `o`.
  Means means(std::size_t o, const Eigen::MatrixXd& coded, Draws draws) const;

  /// Of objective `o`, with the slack of a limit (surfaces::limit_slack).
  const surfaces::Goal& goal(std::size_t o) const { return responses_[o].goal; }

  /// The probability that a run completes; 1 until one could not.
  Eigen::VectorXd completion(const Eigen::MatrixXd& coded) const;

  /// The process with the likeliest parameters; null if there is none.
  const surfaces::GaussianProcess* process(std::size_t o) const;

  /// The process, or the constant that a limited response has been; null before there are runs
  /// enough.
  const surfaces::Surface* surface(std::size_t o) const;

  /// Null until a run could not complete.
  const surfaces::Feasibility* feasibility() const;

  /// The coded points of the runs that completed, to their ends, each once.
  const Eigen::MatrixXd& completed() const { return completed_; }

 private:
  struct Response {
    std::optional<surfaces::GaussianProcess> fit;
    std::vector<surfaces::GaussianProcess> processes;  ///< with drawn parameters, each once
    std::vector<Eigen::Index> drawn;                   ///< the process of each draw
    surfaces::Goal goal;
    double mean = 0, deviation = 1;         ///< without a fit
    std::optional<surfaces::Fit> constant;  ///< if it is a limit and has not varied
  };

  static Response response_of(const Objective& objective, const Problem& problem,
                              const std::vector<Observation>& observations);

  int threads_ = 0;
  std::vector<Response> responses_;
  std::optional<surfaces::Feasibility> feasibility_;
  Eigen::MatrixXd completed_;
};

}  // namespace doetune::tuning
