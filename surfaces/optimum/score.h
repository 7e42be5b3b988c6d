// The score by which candidates for the optimum are compared.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/responses_together.h"

namespace doetune::surfaces {

/// Differences within rounding are removed, so that "better" is a strict weak order.
struct Score {
  double violation = 0;  ///< of limits by the means, and of the minimum feasibility
  double doubt = 0;      ///< of limits with a confidence, if there is no violation; see Scorer
  double desirability = 0;
  double compromise = 0;   ///< of ramps if the desirability is 0; else 0
  double probability = 0;  ///< that the next run meets every limit, see best_of
  double excess = 0;
};

/// Compares violation, doubt, desirability, compromise, probability and excess, in this order.
bool better(const Score& a, const Score& b);

/// A scalar that increases with the score, ignoring probability: below -2 if limits are missed,
/// from there to -1 if they are met with too little confidence, up to 0 if a ramp is out of reach,
/// otherwise the desirability plus a small multiple of the excess.
double merit(const Score& score);

/// Whether a and b are equal except for probability and excess.
bool ties_but_for_probability(const Score& a, const Score& b);

/// Whether a response takes part in the optimisation.
bool counts(const GoalResponse& response);

/// The prediction of the mean alone, without the error of a run.
Prediction of_mean(Prediction prediction);

/// The probability on one side of a limit that its confidence asks for: `within` leaves half of the
/// rest on either side.
double one_sided_confidence(const Goal& goal);

/// The scores of m points from their responses (m values each; those of responses that do not count
/// are not read), without probability and feasibility.
std::vector<Score> scores_of(const OptimumRequest& request,
                             const std::vector<Eigen::VectorXd>& responses, Eigen::Index m);

/// The best of some points, and a bound on the others.
struct BestOf {
  Eigen::Index at = -1;  ///< -1: none
  Score score;
  double max_probability = 1;  ///< upper bound on the probability of points that tie with it
};

/// Scores points (coded, one per row); thread-safe.
class Scorer {
 public:
  /// The request must outlive it.
  explicit Scorer(const OptimumRequest& request);

  /// With probability 0, because it is expensive. The doubt of a point is the sum over limits of
  ///   max(0, t + (low - z) / s, t - (high - z) / s)
  /// with z the prediction and s the standard error of the next run, or of the mean, on the scale
  /// of the fit; t is Student's quantile of the goal's confidence, for `within` of half of what it
  /// leaves on either side.
  std::vector<Score> scores(const Eigen::MatrixXd& coded) const;

  /// The best of the points in `allowed` (empty: all). Its probability, the product over limits of
  /// the probabilities that the next run meets them as if errors were independent, is computed only
  /// for ties, and not if the best is worse than `bar`, since then nothing depends on it.
  BestOf best_of(const Eigen::MatrixXd& coded, const std::vector<bool>& allowed = {},
                 const Score* bar = nullptr) const;

 private:
  const OptimumRequest& request_;
  ResponsesTogether responses_;  ///< of the responses that count
};

}  // namespace doetune::surfaces
