// What candidates for the optimum are compared by.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/responses_together.h"

namespace doetune::surfaces {

/// Differences that are rounding are made none, so that "better" stays an order.
struct Score {
  double violation = 0;  ///< of limits, and of the least probability of running
  double desirability = 0;
  double compromise = 0;   ///< of ramps where the desirability is 0; else 0
  double probability = 0;  ///< that the next run meets every limit, see best_of
  double excess = 0;
};

/// By violation, desirability, compromise, probability and excess, in this order.
bool better(const Score& a, const Score& b);

/// One number that rises with better scores, probability aside: below -1 where limits are missed,
/// up to 0 where a ramp is out of reach, else the desirability with a touch of the excess.
double merit(const Score& score);

/// Whether only probability and excess can tell a from b.
bool ties_but_for_probability(const Score& a, const Score& b);

/// Whether a response has a say in the optimum.
bool counts(const GoalResponse& response);

/// The scores of m points from what every response is there (m values each; of those that do not
/// count nothing is read), probability and feasibility left out.
std::vector<Score> scores_of(const OptimumRequest& request,
                             const std::vector<Eigen::VectorXd>& responses, Eigen::Index m);

/// The best of some points, and what no other of them can exceed.
struct BestOf {
  Eigen::Index at = -1;  ///< none: -1
  Score score;
  double max_probability = 1;  ///< no point that ties with it has a greater one
};

/// Scores points (coded, a point a row); may be called by several threads at a time.
class Scorer {
 public:
  /// The request must outlive it.
  explicit Scorer(const OptimumRequest& request);

  /// With probability 0: it is dear.
  std::vector<Score> scores(const Eigen::MatrixXd& coded) const;

  /// The best of some points among those of `allowed` (empty: all). Its probability, the product
  /// over limits of the probabilities that the next run meets them as if errors were independent,
  /// is looked up where points tie; not where the best lies behind `bar`, since then nothing
  /// depends on it.
  BestOf best_of(const Eigen::MatrixXd& coded, const std::vector<bool>& allowed = {},
                 const Score* bar = nullptr) const;

 private:
  const OptimumRequest& request_;
  ResponsesTogether responses_;  ///< of those that count
};

}  // namespace doetune::surfaces
