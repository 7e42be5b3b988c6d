// The settings that meet the goals best, over everything that can really be set.
//
// find_optimum gives the settings and what to expect there. What else an engineer asks of them:
//   optimum/uncertainty.h   how sure is it that the optimum lies here?
//   optimum/equivalents.h   which settings cannot be told from it, and what would they save?
//   optimum/robustness.h    what if the settings are not held exactly?
//   optimum/comparison.h    what is gained over today's settings?
//   optimum/pareto.h        what does one goal cost another?
//   optimum/relaxations.h   which limit is in the way, and how far would it have to give?
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"
#include "surfaces/goal.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

struct GoalResponse {
  std::string name;
  const Surface* surface = nullptr;
  std::optional<Goal> goal;  ///< empty: predicted at the optimum, but not sought
  /// What the runs behind the surface are called, in the order of its mean_errors, so that errors
  /// of two responses in the same run are known as such; empty: 0, 1, 2, ...
  std::vector<int> runs = {};
};

struct OptimumRequest {
  std::vector<doe::Factor> factors;
  doe::Region region;
  std::vector<GoalResponse> responses;
  std::map<std::string, double> hold;  ///< factors fixed at a natural setting
  double confidence = 0.95;
  /// The probability that coded settings can run at all; empty: they can. It must take calls from
  /// several threads at a time. A probability below the least one wanted is a limit that is missed:
  /// the difference counts as a violation.
  std::function<double(const Eigen::VectorXd& coded)> feasibility = {};
  double min_feasibility = 0.5;
  std::size_t max_enumerated = 10'000'000;  ///< usable settings that are all looked at
  std::size_t max_drawn = 20'000;           ///< settings whose means are drawn together, at most
  int threads = 0;                          ///< 0: as many as the machine has
};

/// Empty without an error estimate.
struct Intervals {
  std::optional<Interval> confidence, prediction, tolerance;
};

/// What is to be expected of one response at some settings.
struct ResponsePrediction {
  std::string name;
  double mean = 0;
  std::optional<Interval> confidence_interval;
  std::optional<Interval> prediction_interval;
  std::optional<Interval> tolerance_interval;  ///< of a share `confidence` of all further runs
  /// The three intervals so much wider that those of all responses hold together with the
  /// confidence asked for, whatever the correlation of errors (Bonferroni).
  Intervals simultaneous;
  bool goal_met = true;                        ///< by the mean
  std::optional<double> goal_met_probability;  ///< of a limit, by the next run; empty without
                                               ///< a limit or without an error estimate
};

struct Candidate {
  std::vector<double> settings;  ///< natural units, usable
  double violation = 0;          ///< sum over limits, 0 where all are met
  double desirability = 0;       ///< (prod d_i^importance_i)^(1 / sum importance_i)
  std::vector<ResponsePrediction> predictions;
  std::optional<double> feasibility;  ///< probability that the settings run, where one is given
  /// That the next run meets every limit, by the joint errors of the responses: see
  /// optimum/joint_errors.h. Empty without limits or without an error estimate.
  std::optional<double> all_goals_met_probability;
};

struct Optimum {
  bool feasible = false;  ///< the mean predictions meet every limit
  Candidate best;
  std::vector<Candidate> alternatives;  ///< good settings that differ from the best, best first
  std::optional<Candidate> baseline;    ///< where every factor has one
  std::vector<std::string> at_bound;    ///< numeric factors whose best setting ends their range
  bool global = false;  ///< no usable setting is better: all were looked at, or it is proven
  /// No usable settings predict the sought response better by more than this (own unit): 0 where
  /// `global`, empty where nothing is known of settings that were not looked at.
  std::optional<double> most_to_gain;
};

/// Candidates are compared by
///   1. violation of limits, the less the better
///   2. desirability
///   3. where that is 0: the sum over ramps of importance x (d - shortfall), so that a ramp out of
///      reach is come as near to as can be, and does not keep the others from counting
///   4. the probability that the next run meets every limit, as if errors were independent
///   5. how far predictions lie beyond the ends of ramps, where d stays 1
/// Up to `max_enumerated` usable settings are all evaluated. Beyond that a coarse grid and points
/// drawn at random are, and the best of them, spread out, are improved by moves of one factor and
/// of two. The result is the same on any number of threads. Alternatives differ from the best and
/// from each other by a quarter of a numeric factor's range or by a level. Settings are snapped
/// before they are predicted. Throws std::invalid_argument if no usable setting lies in the region.
Optimum find_optimum(const OptimumRequest& request);

/// The lowest and highest prediction of each response over the settings that find_optimum would
/// look at, in the order of request.responses: the natural ends of a ramp.
/// Throws like find_optimum.
std::vector<Interval> predicted_ranges(const OptimumRequest& request);

/// Today's settings, natural units; empty where a factor has no baseline.
std::optional<std::vector<double>> baseline_of(const std::vector<doe::Factor>& factors);

/// The prediction of every response at given settings.
Candidate assess(const OptimumRequest& request, const std::vector<double>& settings);

}  // namespace doetune::surfaces
