// Which runs of a search are ended before they have finished: those that their progress shows to be
// clearly worse than the best one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/run_record.h"
#include "study/run_settings.h"
#include "surfaces/models/gaussian_process.h"
#include "tuning/problem.h"

namespace doetune::tuning {

using Progress = std::vector<study::ProgressPoint>;  ///< of one run, in ascending order of steps

/// Why a run is ended, and what is known of it.
struct EarlyVerdict {
  std::map<std::string, surfaces::Interval> bounds;  ///< of its goals: see Observation
  std::string reason;                                ///< as a clause
};

/// The predictive termination criterion of Domhan, Springenberg & Hutter (2015), IJCAI 24, 3460,
/// which is the performance curve stopping rule of Golovin et al. (2017), KDD 23, 1487: a run ends
/// when, with confidence c, it will not be better than the best run. What it will measure is
/// predicted from how the n completed runs changed from the same step to their ends: with z(s) the
/// report at step s on the scale of the transform, z the measured value, and d the differences z -
/// z(s) of these runs, of mean m and standard deviation v,
///
///   z(s) + m +- sqrt((t v)^2 (1 + 1/n) + (u w)^2)
///
/// contains what many such runs have in common with their neighbours; t and u are the quantiles of
/// probability c of Student's t with n - 1 degrees of freedom and of the normal distribution. w is
/// the scatter of runs about the smooth part of a Gaussian process, noise and nugget, which runs
/// without replicates do not tell apart. The prediction is compared with the smooth part at the
/// settings of a completed run that met all limits, since the best value of many runs owes
/// something to chance. With several goals, one such run has to be better in all of them.
///
/// Unlike the median stopping rule of Golovin et al., which ends each run that is worse than half
/// of the others at the same step, this seldom ends one that is about as good as the best.
class EarlyEnding {
 public:
  /// A run this near to its end is not ended: what is left costs less than its value is worth. A
  /// fraction of the median of the last steps of completed runs.
  static constexpr double kLate = 0.8;

  /// `progress` is that of each observation; empty where none is known.
  EarlyEnding(const Problem& problem, const std::vector<Observation>& so_far,
              const std::vector<Progress>& progress, const study::EndEarlySettings& settings);

  /// Empty if the run goes on: it may be one of the best, it is a repetition of settings that were
  /// measured before, too few completed runs have reported the goals at such a step, or the runs
  /// support no models.
  ///
  /// The bound of a goal is the end of z(s) + m +- t v sqrt(1 + 1/n) on the side of its goal, in
  /// the unit of the response, but no worse than all that was measured: a run that diverges says no
  /// more than that it is bad.
  std::optional<EarlyVerdict> assess(const Settings& settings,
                                     const study::ProgressPoint& latest) const;

 private:
  /// A completed run with progress.
  struct Finished {
    std::map<std::string, double> values;
    Progress progress;
  };

  /// A goal, with the means at the settings of the runs that met all limits.
  struct Compared {
    Objective objective;
    double scatter = 0;           ///< w
    std::vector<double> means;    ///< own unit, one for each of those runs
    surfaces::Interval measured;  ///< lowest and highest value
  };

  /// What a run will measure, on the scale of the transform.
  struct Forecast {
    double mean = 0, deviation = 0, df = 0;
  };

  std::optional<Forecast> forecast(const Objective& objective,
                                   const study::ProgressPoint& latest) const;
  surfaces::Interval range_of(const Forecast& forecast, const Objective& objective,
                              double scatter) const;
  std::optional<std::size_t> better_run(const std::vector<Forecast>& forecasts) const;

  study::EndEarlySettings settings_;
  std::vector<Finished> finished_;
  std::vector<Compared> goals_;     ///< empty without models
  std::vector<Settings> measured_;  ///< of completed runs
  double late_ = 0;                 ///< the last step at which a run is ended
};

}  // namespace doetune::tuning
