// Margins of predictions inside limits, and the probability that runs meet them.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// Scores and probabilities that differ by less count as equal.
inline constexpr double kScoreRounding = 1e-9;

/// The limits of a request at m points. A probability costs a hundred times as much as a margin,
/// and only the most probable points matter: since a product is no more than its smallest factor,
/// the margins rule out the others.
class LimitMargins {
 public:
  LimitMargins(const OptimumRequest& request, const Eigen::MatrixXd& coded);

  /// Upper bound on the probability of every point.
  double max_probability() const;

  /// For each point, the probability that the next run meets every limit, as if the errors of the
  /// responses were independent; 0 if it is certainly less than `least` or than another point's.
  /// All 1 without limits or error estimates.
  std::vector<double> probabilities(double least) const;

 private:
  /// One limit with an error estimate, in units of Student's t.
  struct Limit {
    double df = 0;
    Eigen::VectorXd low, high;
  };

  double probability(Eigen::Index point) const;
  double smallest_margin(Eigen::Index point) const;
  bool all_at_least(Eigen::Index point, const std::vector<double>& margins) const;
  std::vector<double> margins_of(double probability) const;  ///< per limit, by its df

  Eigen::Index points_ = 0;
  std::vector<Limit> limits_;
  Eigen::Index widest_ = 0;  ///< the point with the largest minimum margin
};

}  // namespace doetune::surfaces
