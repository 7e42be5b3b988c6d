// What the runs that judge an optimum say of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "study/confirmation_runs.h"
#include "surfaces/optimum/comparison.h"

namespace doetune::analysis {

/// Of a limit, by the measured mean: its 95 % interval lies within; the mean does, or it does not.
enum class LimitHeld { kYes, kOpen, kNo };

struct ConfirmedResponse {
  std::string name;
  std::string unit;
  std::optional<surfaces::Goal> goal;
  surfaces::Prediction predicted;
  surfaces::Prediction measured;  ///< the mean of the confirmation runs
  int runs = 0;
  /// Where the mean of so many runs was to lie, 95 %; and where that of all responses with a goal
  /// was to lie together (Bonferroni), which is what judges. Empty without an error estimate.
  std::optional<surfaces::Interval> range, joint_range;
  std::optional<bool> agrees;  ///< by joint_range
  std::optional<LimitHeld> limit;
  std::optional<surfaces::Prediction> baseline;  ///< the mean of the baseline runs
  int baseline_runs = 0;
  std::optional<bool> baseline_agrees;  ///< with what is predicted of today's settings
  std::optional<surfaces::Gain> gain;   ///< over the measured baseline, 95 %
  /// The gain is in the direction that is sought, counting that all ramps are compared; empty
  /// where that is not known or nothing is sought.
  std::optional<bool> is_better;
};

struct Confirmation {
  /// open           runs are missing, or there is no error estimate to judge by
  /// confirmed      every response with a goal agrees, and measured means keep to the limits
  /// not confirmed  one does not
  /// no gain        confirmed, but no ramp is better than at today's settings, which keep to the
  ///                limits as well; or today's settings are the optimum
  enum class Validation { kOpen, kConfirmed, kNotConfirmed, kNoGain };

  study::ValidationRuns planned;
  int completed = 0;                         ///< of the confirmation runs
  int failed = 0;                            ///< of all: were tried and did not complete
  int missing = 0;                           ///< of all: not tried yet
  bool is_baseline = false;                  ///< the optimum is at today's settings
  std::vector<ConfirmedResponse> responses;  ///< that were measured, in the study's order
  Validation validation = Validation::kOpen;

  /// The settings of today do not give what the surfaces predict of them either: it is the system
  /// that has changed since the plan was run.
  bool system_changed() const;
};

/// The settings that the study's confirmation is about: the optimum, and today's.
study::ValidatedSettings validated_settings(const Analysis& analysis);

/// Empty without an optimum, or where no confirmation run is planned at its settings.
std::optional<Confirmation> confirmation_of(const Analysis& analysis);

/// A mean to the digits that its interval leaves, and never like a limit that it is not equal to.
std::string mean_text(const surfaces::Prediction& mean, const std::optional<surfaces::Goal>& goal);

/// "+38 % (95 % +31 to +45 %)", "4.2 times (95 % 3.9 to 4.5)"; the difference where there is no
/// ratio; without what is not known.
std::string gain_text(const surfaces::Gain& gain, const std::string& unit);

/// The answer of a validation in one or two sentences; empty where it is open.
std::string confirmation_headline(const Confirmation& confirmation);

/// Why to be careful about it, or why there is none, in sentences.
std::vector<std::string> confirmation_caveats(const Analysis& analysis,
                                              const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
