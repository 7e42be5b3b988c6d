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

std::optional<bool> is_better(const ConfirmedResponse& response, int ramps) {
  if (!response.goal || response.goal->is_limit()) return std::nullopt;
  const auto gain =
      surfaces::measured_gain(response.name, response.measured, *response.baseline, each_of(ramps));
  if (!gain.interval) return std::nullopt;
  const surfaces::Goal& goal = *response.goal;
  switch (goal.type) {
    case surfaces::GoalType::kMaximize:
      return gain.interval->low > 0;
    case surfaces::GoalType::kMinimize:
      return gain.interval->high < 0;
    default:
      break;
  }
  const bool differs = gain.interval->low > 0 || gain.interval->high < 0;
  return differs && std::abs(response.measured.response() - goal.target) <
                        std::abs(response.baseline->response() - goal.target);
}

void compare_with_baseline(const Analysis& analysis, const surfaces::Surface& surface,
                           const std::vector<double>& values, ConfirmedResponse& response) {
  if (values.empty()) return;
  response.baseline_runs = static_cast<int>(values.size());
  response.baseline = surfaces::measured_mean(response.predicted.transform, values);
  response.gain =
      surfaces::measured_gain(response.name, response.measured, *response.baseline, kLevel);
  response.is_better = is_better(response, with_goal(analysis, true));
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
  if (const surfaces::Goal* goal = goal_of(analysis, name)) confirmed.goal = *goal;
  confirmed.predicted = response.surface()->predict(
      doe::coded_point(factors_of(analysis), analysis.optimum->best.settings));
  confirmed.runs = static_cast<int>(values.size());
  confirmed.measured = surfaces::measured_mean(confirmed.predicted.transform, values);
  confirmed.range = surfaces::mean_range(confirmed.predicted, confirmed.runs, kLevel);
  confirmed.joint_range =
      surfaces::mean_range(confirmed.predicted, confirmed.runs,
                           confirmed.goal ? each_of(with_goal(analysis, false)) : kLevel);
  if (confirmed.joint_range) {
    confirmed.agrees = surfaces::agrees(*confirmed.joint_range, confirmed.measured.response());
  }
  confirmed.limit = held(confirmed.goal, confirmed.measured);
  compare_with_baseline(analysis, *response.surface(),
                        measured_values(analysis.records, runs.baseline, name), confirmed);
  return confirmed;
}

/// Whether any goal is met better than at the baseline; empty if unknown.
std::optional<bool> any_gain(const Confirmation& confirmation) {
  if (confirmation.is_baseline) return false;
  bool known = true;
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (!response.goal) continue;
    if (response.is_better.value_or(false)) return true;
    const bool limit = response.goal->is_limit();
    if (limit && response.baseline && !response.goal->is_met(response.baseline->response())) {
      return true;
    }
    known = known && (limit ? response.baseline.has_value() : response.is_better.has_value());
  }
  return known ? std::optional(false) : std::nullopt;
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
  return any_gain(confirmation).value_or(true) ? Validation::kConfirmed : Validation::kNoGain;
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

bool Confirmation::system_changed() const {
  return std::any_of(responses.begin(), responses.end(), [](const ConfirmedResponse& response) {
    return response.goal && !response.baseline_agrees.value_or(true);
  });
}

study::ValidatedSettings validated_settings(const Analysis& analysis) {
  return {analysis.optimum->best.settings, surfaces::baseline_of(factors_of(analysis))};
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
  confirmation.validation = validation_of(analysis, confirmation);
  return confirmation;
}

}  // namespace doetune::analysis
