// How good responses are for the goals of a problem, on a scale that has no ends.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tuning/problem.h"

namespace doetune::tuning {

/// The utility of one goal is linear in its response: 0 at the worst and 1 at the best value
/// measured so far, or at the ends of the goal's ramp where it has them and nothing worse was
/// measured; extrapolated beyond both; for a target it is 1 at the target. Several goals are
/// combined by the geometric mean weighted by importance, each utility at least 0.01. Limits have
/// no utility. Unlike a desirability, which stops at 1, it also ranks responses better than all
/// measured ones.
class Utility {
 public:
  Utility(const Problem& problem, const std::vector<Observation>& so_far);

  /// The objectives that are no limits, by their index.
  const std::vector<std::size_t>& goals() const { return goals_; }

  /// Of responses, one for each of goals().
  double of(const std::vector<double>& responses) const;

  /// Of a single goal that is no target, the utility is slope (response - zero).
  struct Line {
    double zero = 0, slope = 1;

    double response(double utility) const { return zero + utility / slope; }
  };
  Line line() const;

  /// The same for each goal alone, plus kBelowWorst: what is better than all that was measured by
  /// so much counts towards the volume of a front (hypervolume.h). Source: Ishibuchi et al. (2018),
  /// Evol. Comput. 26, 411, for the reference point.
  std::vector<double> heights(const std::vector<double>& responses) const;
  static constexpr double kBelowWorst = 0.1;

  /// An improvement of the utility as a fraction of what is best: of the response of a single goal,
  /// else of the utility, or of the volume of a front.
  double relative(double improvement, double best) const;

  /// Whether an observation completed, has all responses and meets the limits, and its utility.
  std::optional<double> of(const Observation& observation) const;

 private:
  double height(std::size_t g, double response) const;
  bool is_single() const { return goals_.size() == 1; }

  const std::vector<Objective>& objectives_;
  std::vector<std::size_t> goals_;
  std::vector<std::pair<double, double>> ranges_;  ///< of each goal
};

/// The index of the best of the completed runs that meet the limits, as measured, among settings of
/// which every run could run; empty if there is none.
std::optional<std::size_t> best_measured(const Problem& problem,
                                         const std::vector<Observation>& so_far);

}  // namespace doetune::tuning
