// Compares confirmation runs with the predictions at an optimum and with the baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "study/confirmation_runs.h"
#include "surfaces/optimum/comparison.h"

namespace doetune::analysis {

/// Whether a limit is met: kYes, the 95 % confidence interval of the measured mean lies within it;
/// kOpen, only the mean does; kNo, the mean does not.
enum class LimitHeld { kYes, kOpen, kNo };

struct ConfirmedResponse {
  std::string name;
  std::string unit;
  std::optional<surfaces::Goal> goal;
  surfaces::Prediction predicted;
  surfaces::Prediction measured;  ///< the mean of the confirmation runs
  int runs = 0;
  /// 95 % interval for the mean of that many runs, and the same jointly for all responses with a
  /// goal (Bonferroni), on which the validation is based. Empty without an error estimate.
  std::optional<surfaces::Interval> range, joint_range;
  std::optional<bool> agrees;  ///< measured mean within joint_range
  std::optional<LimitHeld> limit;
  std::optional<surfaces::Prediction> baseline;  ///< the mean of the baseline runs
  int baseline_runs = 0;
  std::optional<bool> baseline_agrees;  ///< with the prediction at the baseline
  std::optional<surfaces::Gain> gain;   ///< over the measured baseline, 95 %
  /// Whether the gain is significant and towards the goal, jointly for all ramp goals (Bonferroni);
  /// empty if unknown or without a ramp goal.
  std::optional<bool> is_better;
};

struct Confirmation {
  /// open           runs are missing, or there is no error estimate
  /// confirmed      every response with a goal agrees, and measured means meet the limits
  /// not confirmed  at least one does not
  /// no gain        confirmed, but no ramp goal is better than at the baseline, which meets the
  ///                limits as well; or the baseline is the optimum
  enum class Validation { kOpen, kConfirmed, kNotConfirmed, kNoGain };

  study::ValidationRuns planned;
  int completed = 0;         ///< of the confirmation runs
  int failed = 0;            ///< confirmation and baseline runs that did not complete
  int missing = 0;           ///< confirmation and baseline runs not yet attempted
  bool is_baseline = false;  ///< the optimum is the baseline
  std::vector<ConfirmedResponse> responses;  ///< those measured, in the study's order
  Validation validation = Validation::kOpen;

  /// Whether the baseline does not agree with its prediction either, so that the system itself must
  /// have changed since the plan was run.
  bool system_changed() const;
};

/// The settings to confirm: the optimum, and the baseline.
study::ValidatedSettings validated_settings(const Analysis& analysis);

/// Empty without an optimum, and if no confirmation run is planned at its settings.
std::optional<Confirmation> confirmation_of(const Analysis& analysis);

/// A mean with as many digits as its interval justifies, never rounded to a limit that it does not
/// equal.
std::string mean_text(const surfaces::Prediction& mean, const std::optional<surfaces::Goal>& goal);

/// "+38 % (95 % +31 to +45 %)", "4.2 times (95 % 3.9 to 4.5)"; the difference if there is no ratio;
/// unknown parts are omitted.
std::string gain_text(const surfaces::Gain& gain, const std::string& unit);

/// The result of the validation in one or two sentences; empty while it is open.
std::string confirmation_headline(const Confirmation& confirmation);

/// Reasons to be careful with the confirmation, or why there is none, in sentences.
std::vector<std::string> confirmation_caveats(const Analysis& analysis,
                                              const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
