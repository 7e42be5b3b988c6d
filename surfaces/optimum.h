// The usable settings that meet the goals best.
//
// find_optimum gives the settings and the predictions there. Related questions:
//   optimum/uncertainty.h   how certain is the location of the optimum?
//   optimum/equivalents.h   which settings are indistinguishable from it, and what do they save?
//   optimum/robustness.h    what if the settings are not held exactly?
//   optimum/comparison.h    what is the gain over the current settings?
//   optimum/pareto.h        what does one goal cost another?
//   optimum/relaxations.h   which limit is infeasible, and how far must it be relaxed?
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"
#include "surfaces/goal.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

class Posterior;

struct GoalResponse {
  std::string name;
  const Surface* surface = nullptr;
  std::optional<Goal> goal;  ///< empty: predicted at the optimum, but not optimised
  /// What is promised of settings that are chosen; empty: the surface's own predictions.
  std::shared_ptr<const Posterior> posterior = {};
  /// IDs of the runs behind the surface, in the order of its mean_errors, to match errors of
  /// different responses in the same run; empty: 0, 1, 2, ...
  std::vector<int> runs = {};
};

struct OptimumRequest {
  std::vector<doe::Factor> factors;
  doe::Region region;
  std::vector<GoalResponse> responses;
  std::map<std::string, double> hold;  ///< factors fixed at a natural setting
  /// The settings to choose from, in natural units, such as those that have been run; empty: all
  /// usable ones. Ranges, the front and what else is said of the region are of all nevertheless.
  std::vector<std::vector<double>> only = {};
  double confidence = 0.95;
  /// The probability that a run completes at each of some coded points (one per row); empty: 1.
  /// Must be thread-safe. A probability below min_feasibility counts as a missed limit, with the
  /// difference as its violation.
  std::function<Eigen::VectorXd(const Eigen::MatrixXd& coded)> feasibility = {};
  double min_feasibility = 0.95;
  /// The same in each of some draws of what is known of completing, one column per draw; empty: as
  /// if `feasibility` were certain.
  std::function<Eigen::MatrixXd(const Eigen::MatrixXd& coded)> drawn_feasibility = {};
  std::size_t max_enumerated = 10'000'000;  ///< maximum number of usable settings for exhaustive
                                            ///< search
  /// Maximum number of settings in a joint draw of the means. Of more usable settings, a grid of so
  /// many and 2,000 random ones are looked at, in parts that are drawn by themselves.
  std::size_t max_drawn = 20'000;
  int threads = 0;  ///< 0: all hardware threads
};

/// Empty without an error estimate.
struct Intervals {
  std::optional<Interval> confidence, prediction, tolerance;
};

/// The prediction of one response at some settings.
struct ResponsePrediction {
  std::string name;
  double mean = 0;  ///< by the surface
  /// What to expect at settings that were chosen for their prediction, by the posterior: less
  /// favourable than `mean`. The intervals and probabilities are about it. Empty: the mean.
  std::optional<double> expected;
  std::optional<Interval> confidence_interval;
  std::optional<Interval> prediction_interval;
  std::optional<Interval> tolerance_interval;  ///< of the fraction `confidence` of all future runs
  /// The three intervals, widened so that those of all responses hold simultaneously at the
  /// requested confidence, whatever the correlation of errors (Bonferroni).
  Intervals simultaneous;
  bool goal_met = true;                        ///< by the mean prediction
  std::optional<double> goal_met_probability;  ///< of a limit, by the next run; empty without
                                               ///< a limit or without an error estimate
  std::optional<double> mean_met_probability;  ///< of a limit of the mean, by the mean
};

struct Candidate {
  std::vector<double> settings;  ///< natural units, usable
  double violation = 0;          ///< sum over limits, 0 if all are met by the mean predictions
  double doubt = 0;              ///< sum over limits, 0 if all are met with their confidence
  double desirability = 0;       ///< (prod d_i^importance_i)^(1 / sum importance_i)
  std::vector<ResponsePrediction> predictions;
  std::optional<double> feasibility;  ///< probability that a run completes, if a model is given
  /// The probability that the next run meets every limit, by the joint errors of the responses: see
  /// optimum/joint_errors.h. Empty without limits or without an error estimate.
  std::optional<double> all_goals_met_probability;
};

struct Optimum {
  bool feasible = false;  ///< the mean predictions meet every limit
  Candidate best;
  std::vector<Candidate> alternatives;  ///< good settings distinct from the best, best first
  std::optional<Candidate> baseline;    ///< if every factor has one
  std::vector<std::string> at_bound;    ///< numeric factors whose best setting is at an end of
                                        ///< their range; see also optimum/range_ends.h
  bool global = false;  ///< no usable setting is better: exhaustive search, or proven
  /// Upper bound on how much better (own unit) any usable settings predict the optimised response:
  /// 0 if `global`, empty if nothing is known about settings not evaluated.
  std::optional<double> optimality_gap;
};

/// Candidates are compared by
///   1. violation of limits, smaller is better
///   2. doubt: how far the limits are from being met with the confidence that they ask for
///   3. desirability
///   4. if that is 0: the sum over ramps of importance x (d - shortfall), so that an unattainable
///      ramp is approached as closely as possible and the others still count
///   5. the probability that the next run meets every limit, as if errors were independent
///   6. how far predictions lie beyond the ends of ramps, where d stays 1
/// Up to `max_enumerated` usable settings are all evaluated. Beyond that a coarse grid and random
/// points are evaluated, and the best of them, spread out, are improved by moves of one and of two
/// factors. The result does not depend on the number of threads. Alternatives differ from the best
/// and from each other by a quarter of a numeric factor's range or by a level. Settings are snapped
/// before they are predicted. Throws std::invalid_argument if no usable setting lies in the region.
Optimum find_optimum(const OptimumRequest& request);

/// The minimum and maximum prediction of each response over the settings that find_optimum would
/// evaluate, of those that are feasible if there are any, in the order of request.responses: the
/// natural ends of a ramp. Throws like find_optimum.
std::vector<Interval> predicted_ranges(const OptimumRequest& request);

/// Current settings, natural units; empty if a factor has no baseline.
std::optional<std::vector<double>> baseline_of(const std::vector<doe::Factor>& factors);

/// The coded points, one per row, whose probability of completing is at least min_feasibility.
std::vector<Eigen::Index> feasible_rows(const OptimumRequest& request,
                                        const Eigen::MatrixXd& coded);

/// The predictions of all responses at settings that were named beforehand, by the surfaces, or
/// that were chosen by them, by the posteriors of the responses that have one.
enum class SettingsAre { kNamed, kChosen };
Candidate assess(const OptimumRequest& request, const std::vector<double>& settings,
                 SettingsAre are = SettingsAre::kChosen);

}  // namespace doetune::surfaces
