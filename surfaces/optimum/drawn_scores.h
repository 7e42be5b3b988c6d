// The scores that settings would have if what was drawn of them were true.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/score.h"

namespace doetune::surfaces {

/// Some draws at m points.
struct DrawnTruths {
  std::vector<Eigen::MatrixXd> responses;  ///< one m x draws per response, own unit
  Eigen::MatrixXd violations;  ///< m x draws: of what the means alone do not show; see DrawnScores
};

/// Draws, at some points, of the true mean responses (MeanDraws) and of the true probabilities of
/// completing (OptimumRequest::drawn_feasibility), independent of each other. Whoever knew both
/// would choose the settings of the best score: a probability below min_feasibility is a violation,
/// and a limit of the next run asks, with z the normal quantile of its confidence (`within`: of
/// half of what it leaves on either side) and s the error of a run on the scale of the fit, that
///   mean - z s  and  mean + z s   meet it.
class DrawnScores {
 public:
  /// The request must outlive it.
  DrawnScores(const OptimumRequest& request, const Eigen::MatrixXd& coded);

  /// Draws number first, first + 1, ..., from a random stream; the same for the same arguments.
  DrawnTruths draw(int first, int count, std::uint64_t stream) const;

  /// Of every point, without probability and doubt.
  std::vector<Score> scores(const DrawnTruths& truths, Eigen::Index draw) const;

 private:
  /// A limit of the next run, with a confidence.
  struct RunLimit {
    std::size_t response = 0;
    Eigen::VectorXd margin;  ///< z s of every point
  };

  void add_limits(const std::vector<Eigen::MatrixXd>& means, Eigen::MatrixXd& violations) const;

  const OptimumRequest& request_;
  MeanDraws means_;
  std::vector<RunLimit> limits_;
  Eigen::MatrixXd feasibility_;  ///< m x draws, or m x 0
  Eigen::Index points_;
};

}  // namespace doetune::surfaces
