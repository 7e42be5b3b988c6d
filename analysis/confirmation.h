// Compares confirmation runs with the predictions at an optimum and with the baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/trust.h"
#include "study/confirmation_runs.h"
#include "surfaces/optimum/comparison.h"

namespace doetune::analysis {

/// Whether a limit is met: kYes, the 95 % confidence interval of the measured mean lies within it;
/// kOpen, only the mean does; kNo, the mean does not.
enum class LimitHeld { kYes, kOpen, kNo };

/// What the measured gain over the baseline shows, counted towards the goal, by its interval
/// [L, U], 95 % jointly for all ramp goals (Bonferroni): kYes, a gain: L > 0; kNo, none: U <= 0;
/// kOpen, the interval contains no gain as well as some: L <= 0 < U.
enum class GainShown { kYes, kOpen, kNo };

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
  /// joint_range is at least as wide as the predictions in the region differ, so that agreement
  /// shows nothing.
  bool allows_anything = false;
  std::optional<LimitHeld> limit;
  std::optional<surfaces::Prediction> baseline;  ///< the mean of the baseline runs
  int baseline_runs = 0;
  std::optional<bool> baseline_agrees;  ///< with the prediction at the baseline
  std::optional<surfaces::Gain> gain;   ///< over the measured baseline, 95 %
  std::optional<GainShown> gain_shown;  ///< empty if unknown or without a ramp goal
};

struct Confirmation {
  /// open           runs are missing, or there is no error estimate
  /// not confirmed  the mean of a response with a goal lies outside its joint_range, or misses its
  ///                limit
  /// inconclusive   neither, but there is a Doubt
  /// confirmed      neither, without a doubt: a gain is shown (GainShown::kYes, or the baseline's
  ///                mean misses a limit); or it is unknown, and a narrower range than
  ///                allows_anything holds the mean
  /// no gain        neither, and GainShown::kNo for every ramp goal, where the baseline meets the
  ///                limits as well; or the baseline is the optimum, without allows_anything
  enum class Validation { kOpen, kConfirmed, kNotConfirmed, kNoGain, kInconclusive };

  /// Why runs that agree with the prediction show nothing, first reason first:
  ///   few runs  of c planned confirmation (or baseline) runs fewer than c / 2 completed
  ///   gain      no goal is shown to gain, and the interval of a measured gain contains no gain:
  ///             GainShown::kOpen
  ///   range     the same, where the gain is unknown and the range allowed is as wide as the
  ///             predictions in the region differ: allows_anything
  enum class Doubt { kFewRuns, kGain, kRange };

  study::ValidationRuns planned;
  int completed = 0;         ///< of the confirmation runs
  int failed = 0;            ///< confirmation and baseline runs that did not complete
  int missing = 0;           ///< confirmation and baseline runs not yet attempted
  bool is_baseline = false;  ///< the optimum is the baseline
  std::vector<ConfirmedResponse> responses;  ///< those measured, in the study's order
  Validation validation = Validation::kOpen;
  std::optional<Doubt> doubt;  ///< of an inconclusive validation

  /// Whether the baseline does not agree with its prediction: the surface is wrong there, or the
  /// system has changed since the plan was run.
  bool baseline_disagrees() const;
};

/// The settings to confirm: the optimum, and the baseline unless it has only been infeasible.
study::ValidatedSettings validated_settings(const Analysis& analysis);

/// Empty without an optimum, and if no confirmation run is planned at its settings.
std::optional<Confirmation> confirmation_of(const Analysis& analysis);

/// Trust in a surface after the confirmation: contradicted where their mean disagrees with its
/// prediction, whatever the fit promises.
Trust trust_after(const std::optional<Confirmation>& confirmation,
                  const ResponseAnalysis& response);

/// A mean with as many digits as its interval justifies, never rounded to a limit that it does not
/// equal.
std::string mean_text(const surfaces::Prediction& mean, const std::optional<surfaces::Goal>& goal);

/// "+38 % (95 % +31 to +45 %)", "4.2 times (95 % 3.9 to 4.5)"; the difference if there is no ratio;
/// unknown parts are omitted.
std::string gain_text(const surfaces::Gain& gain, const std::string& unit);

/// "the mean of 5 runs was 217 images/s, 12 % below the prediction"
std::string contradiction_text(const ConfirmedResponse& response);

/// The result of the validation in one or two sentences; empty while it is open.
std::string confirmation_headline(const Confirmation& confirmation);

/// Reasons to be careful with the confirmation, or why there is none, in sentences.
std::vector<std::string> confirmation_caveats(const Analysis& analysis,
                                              const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
