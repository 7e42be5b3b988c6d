#include "analysis/confirmation.h"

#include <algorithm>
#include <cmath>

#include "analysis/reference_point.h"
#include "analysis/run_quality.h"
#include "analysis/today.h"
#include "doe/design.h"
#include "surfaces/optimum/confirmation.h"

namespace doetune::analysis {
namespace {

using Validation = Confirmation::Validation;

constexpr double kLevel = 0.95;

/// Level of each of k intervals with joint level kLevel (Bonferroni).
double each_of(int k) { return 1 - (1 - kLevel) / std::max(k, 1); }

int with_goal(const Analysis& analysis, bool ramps_only) {
  return static_cast<int>(
      std::count_if(analysis.goals.begin(), analysis.goals.end(),
                    [&](const auto& goal) { return !ramps_only || !goal.second.is_limit(); }));
}

std::optional<LimitHeld> held(const std::optional<surfaces::Goal>& goal,
                              const surfaces::Prediction& measured) {
  if (!goal || !goal->is_limit()) return std::nullopt;
  if (!goal->is_met(measured.response())) return LimitHeld::kNo;
  const auto interval = measured.confidence_interval(kLevel);
  const bool within =
      interval && interval->low >= goal->met_low() && interval->high <= goal->met_high();
  return within ? LimitHeld::kYes : LimitHeld::kOpen;
}

/// Whether more of a response than at the baseline is a gain.
bool gains_upwards(const ConfirmedResponse& response) {
  const surfaces::Goal& goal = *response.goal;
  if (goal.type != surfaces::GoalType::kTarget) return goal.type == surfaces::GoalType::kMaximize;
  return std::abs(response.measured.response() - goal.target) <
                 std::abs(response.baseline->response() - goal.target)
             ? response.measured.response() > response.baseline->response()
             : response.measured.response() < response.baseline->response();
}

std::optional<GainShown> gain_shown(const ConfirmedResponse& response, int ramps) {
  if (!response.goal || response.goal->is_limit()) return std::nullopt;
  const auto gain =
      surfaces::measured_gain(response.name, response.measured, *response.baseline, each_of(ramps));
  if (!gain.interval) return std::nullopt;
  const bool up = gains_upwards(response);
  const double low = up ? gain.interval->low : -gain.interval->high;
  const double high = up ? gain.interval->high : -gain.interval->low;
  if (low > 0) return GainShown::kYes;
  return high <= 0 ? GainShown::kNo : GainShown::kOpen;
}

void compare_with_baseline(const Analysis& analysis, const surfaces::Surface& surface,
                           const std::vector<double>& values, ConfirmedResponse& response) {
  if (values.empty()) return;
  response.baseline_runs = static_cast<int>(values.size());
  response.baseline = surfaces::measured_mean(response.predicted.transform, values);
  response.gain =
      surfaces::measured_gain(response.name, response.measured, *response.baseline, kLevel);
  response.gain_shown = gain_shown(response, with_goal(analysis, true));
  const auto predicted = surface.predict(
      doe::coded_point(factors_of(analysis), *surfaces::baseline_of(factors_of(analysis))));
  const auto range =
      surfaces::mean_range(predicted, response.baseline_runs, each_of(with_goal(analysis, false)));
  if (range) response.baseline_agrees = surfaces::agrees(*range, response.baseline->response());
}

std::optional<ConfirmedResponse> confirmed_response(const Analysis& analysis,
                                                    const ResponseAnalysis& response,
                                                    const study::ValidationRuns& runs) {
  const std::string& name = response.response.name;
  const std::vector<double> values = measured_values(analysis.records, runs.confirmation, name);
  if (values.empty() || response.surface() == nullptr) return std::nullopt;
  ConfirmedResponse confirmed;
  confirmed.name = name;
  confirmed.unit = response.response.unit;
  if (const surfaces::Goal* goal = goal_of(analysis, name)) {
    confirmed.goal = *goal;
    confirmed.goal->slack = 0;  // is for predictions
  }
  confirmed.predicted =
      response.expected(doe::coded_point(factors_of(analysis), analysis.optimum->best.settings));
  confirmed.runs = static_cast<int>(values.size());
  confirmed.measured = surfaces::measured_mean(confirmed.predicted.transform, values);
  confirmed.range = surfaces::mean_range(confirmed.predicted, confirmed.runs, kLevel);
  confirmed.joint_range =
      surfaces::mean_range(confirmed.predicted, confirmed.runs,
                           confirmed.goal ? each_of(with_goal(analysis, false)) : kLevel);
  if (confirmed.joint_range) {
    confirmed.agrees = surfaces::agrees(*confirmed.joint_range, confirmed.measured.response());
    const surfaces::Interval& predicted = analysis.details->predicted.at(name);
    const double width = confirmed.joint_range->high - confirmed.joint_range->low;
    const double rounding = 1e-9 * std::abs(confirmed.joint_range->high);  // of constant values
    confirmed.allows_anything = width > rounding && width >= predicted.high - predicted.low;
  }
  confirmed.limit = held(confirmed.goal, confirmed.measured);
  compare_with_baseline(analysis, *response.surface(),
                        measured_values(analysis.records, runs.baseline, name), confirmed);
  return confirmed;
}

/// Whether a goal is shown to be met better than at the baseline.
bool shows_gain(const ConfirmedResponse& response) {
  if (!response.goal) return false;
  if (!response.goal->is_limit()) return response.gain_shown == GainShown::kYes;
  return response.baseline && !response.goal->is_met(response.baseline->response());
}

/// Whether too few of some runs completed.
bool too_few(const Analysis& analysis, const std::vector<int>& runs) {
  const auto completed = std::count_if(runs.begin(), runs.end(), [&](int run) {
    const auto record = analysis.records.find(run);
    return record != analysis.records.end() &&
           record->second.status == study::RunStatus::kCompleted;
  });
  return 2 * static_cast<std::size_t>(completed) < runs.size();
}

std::optional<Confirmation::Doubt> doubt_of(const Analysis& analysis,
                                            const Confirmation& confirmation) {
  using Doubt = Confirmation::Doubt;
  if (too_few(analysis, confirmation.planned.confirmation) ||
      too_few(analysis, confirmation.planned.baseline)) {
    return Doubt::kFewRuns;
  }
  const std::vector<ConfirmedResponse>& responses = confirmation.responses;
  const bool gains = std::any_of(responses.begin(), responses.end(), shows_gain);
  if (gains && !confirmation.is_baseline) return std::nullopt;
  std::optional<Doubt> doubt;
  for (const ConfirmedResponse& response : responses) {
    if (!response.goal || response.goal->is_limit()) continue;
    const bool compared = response.gain_shown && !confirmation.is_baseline;
    if (compared && response.gain_shown == GainShown::kOpen) return Doubt::kGain;
    if (!compared && response.allows_anything) doubt = Doubt::kRange;
  }
  return doubt;
}

/// Whether the baseline is known to be as good; without a doubt.
bool lacks_gain(const Confirmation& confirmation) {
  if (confirmation.is_baseline) return true;
  return std::all_of(confirmation.responses.begin(), confirmation.responses.end(),
                     [](const ConfirmedResponse& response) {
                       if (!response.goal) return true;
                       const bool known = response.goal->is_limit()
                                              ? response.baseline.has_value()
                                              : response.gain_shown.has_value();
                       return known && !shows_gain(response);
                     });
}

Validation validation_of(const Analysis& analysis, const Confirmation& confirmation) {
  int assessed = 0;
  bool borne_out = true;
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (!response.goal) continue;
    assessed += response.agrees ? 1 : 0;
    borne_out = borne_out && response.agrees.value_or(true) && response.limit != LimitHeld::kNo;
  }
  if (confirmation.missing > 0 || assessed < with_goal(analysis, false)) return Validation::kOpen;
  if (!borne_out) return Validation::kNotConfirmed;
  if (confirmation.doubt) return Validation::kInconclusive;
  return lacks_gain(confirmation) ? Validation::kNoGain : Validation::kConfirmed;
}

void count_runs(const Analysis& analysis, Confirmation& confirmation) {
  for (const int run : confirmation.planned.all()) {
    const auto record = analysis.records.find(run);
    const bool completed =
        record != analysis.records.end() && record->second.status == study::RunStatus::kCompleted;
    if (record == analysis.records.end()) ++confirmation.missing;
    if (record != analysis.records.end() && !completed) ++confirmation.failed;
    const auto& own = confirmation.planned.confirmation;
    confirmation.completed += completed && std::count(own.begin(), own.end(), run) > 0 ? 1 : 0;
  }
}

}  // namespace

bool Confirmation::baseline_disagrees() const {
  return std::any_of(responses.begin(), responses.end(), [](const ConfirmedResponse& response) {
    return response.goal && !response.baseline_agrees.value_or(true);
  });
}

study::ValidatedSettings validated_settings(const Analysis& analysis) {
  auto baseline = surfaces::baseline_of(factors_of(analysis));
  if (baseline_cannot_run(analysis)) baseline.reset();
  return {analysis.optimum->best.settings, std::move(baseline)};
}

std::optional<Confirmation> confirmation_of(const Analysis& analysis) {
  if (!analysis.optimum) return std::nullopt;
  const study::ValidatedSettings assessed = validated_settings(analysis);
  Confirmation confirmation;
  confirmation.planned = study::validation_runs(analysis.directory->plan, assessed);
  if (confirmation.planned.confirmation.empty()) return std::nullopt;
  confirmation.is_baseline = is_at_today(analysis);
  count_runs(analysis, confirmation);
  for (const ResponseAnalysis& response : analysis.responses) {
    if (auto confirmed = confirmed_response(analysis, response, confirmation.planned)) {
      confirmation.responses.push_back(std::move(*confirmed));
    }
  }
  confirmation.doubt = doubt_of(analysis, confirmation);
  confirmation.validation = validation_of(analysis, confirmation);
  if (confirmation.validation != Validation::kInconclusive) confirmation.doubt.reset();
  return confirmation;
}

Trust trust_after(const std::optional<Confirmation>& confirmation,
                  const ResponseAnalysis& response) {
  Trust before = trust(response);
  if (!confirmation) return before;
  for (const ConfirmedResponse& confirmed : confirmation->responses) {
    if (confirmed.name != response.response.name || confirmed.agrees.value_or(true)) continue;
    before.level = Trust::Level::kContradicted;
    before.sentence = contradiction_text(confirmed) + "; by its own runs it " + before.sentence;
  }
  return before;
}

}  // namespace doetune::analysis
