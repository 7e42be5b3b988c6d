#include "analysis/best_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/confirmation.h"
#include "analysis/failed_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "doe/design.h"

namespace doetune::analysis {
namespace {

struct Score {
  double violation = 0;
  double log_desirability = 0;
  double value = 0;  ///< of the first response to maximize or minimize; higher is better
};

/// Breaks ties between runs with the same desirability.
double value_of(const Analysis& analysis, const study::RunRecord& record) {
  for (const study::Response& response : analysis.directory->study.responses) {
    const bool maximize = response.goal == doe::GoalType::kMaximize;
    if (!maximize && response.goal != doe::GoalType::kMinimize) continue;
    const auto value = record.responses.find(response.name);
    if (value != record.responses.end()) return maximize ? value->second : -value->second;
  }
  return 0;
}

const std::vector<double>& settings_of_run(const Analysis& analysis, int run) {
  return analysis.directory->plan.runs[static_cast<std::size_t>(run - 1)].settings;
}

bool keeps_held(const Analysis& analysis, int run) {
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto held = analysis.hold.find(factors[f].name);
    if (held == analysis.hold.end()) continue;
    if (settings_of_run(analysis, run)[f] != held->second) return false;
  }
  return true;
}

std::optional<Score> score_of(const Analysis& analysis, const study::RunRecord& record) {
  Score score;
  for (auto [name, goal] : analysis.goals) {
    const auto value = record.responses.find(name);
    if (value == record.responses.end()) return std::nullopt;
    goal.slack = 0;  // is for predictions
    score.violation += goal.violation(value->second);
    score.log_desirability += goal.importance * std::log(goal.desirability(value->second));
  }
  score.value = value_of(analysis, record);
  return score;
}

bool is_better(const Score& score, const Score& than) {
  if (score.violation != than.violation) return score.violation < than.violation;
  if (score.log_desirability != than.log_desirability) {
    return score.log_desirability > than.log_desirability;
  }
  return score.value > than.value;
}

}  // namespace

std::optional<BestRun> better_run(const Analysis& analysis, const std::optional<BestRun>& best,
                                  int run) {
  const auto record = analysis.records.find(run);
  if (record == analysis.records.end()) return best;
  if (record->second.status != study::RunStatus::kCompleted) return best;
  if (!keeps_held(analysis, run)) return best;
  if (has_been_infeasible(analysis.directory->plan, analysis.records,
                          settings_of_run(analysis, run)))
    return best;
  const auto score = score_of(analysis, record->second);
  if (!score) return best;
  if (best && !is_better(*score, *score_of(analysis, analysis.records.at(best->run)))) return best;
  return BestRun{run, score->violation == 0};
}

std::optional<BestRun> best_measured_run(const Analysis& analysis) {
  if (analysis.goals.empty()) return std::nullopt;
  std::optional<BestRun> best;
  for (const auto& [run, record] : analysis.records) best = better_run(analysis, best, run);
  return best;
}

namespace {

/// The interval of fewer runs is too wide to compare with, so that the prediction, with which they
/// agree, is taken: with two, Student's t is 12.7.
constexpr int kEnoughConfirmations = 4;

/// What single runs of the optimum are expected to give.
struct Expected {
  double mean = 0;
  std::optional<surfaces::Interval> interval;
};

Expected expected_at_optimum(const Analysis& analysis, const ResponseAnalysis& response,
                             const std::optional<Confirmation>& confirmation, int ramps) {
  const double level = 1 - 0.05 / ramps;
  if (confirmation) {
    for (const ConfirmedResponse& confirmed : confirmation->responses) {
      const bool contradicted = !confirmed.agrees.value_or(true);
      if (confirmed.name != response.response.name) continue;
      if (confirmed.runs < kEnoughConfirmations && !contradicted) continue;
      return {confirmed.measured.response(), confirmed.measured.prediction_interval(level)};
    }
  }
  const auto predicted =
      response.expected(doe::coded_point(factors_of(analysis), analysis.optimum->best.settings));
  return {predicted.response(), predicted.prediction_interval(level)};
}

/// 1 if a measured value lies beyond the interval towards its goal, -1 on the other side, 0 within.
int side_of(const surfaces::Goal& goal, double measured, const Expected& expected) {
  const double low = expected.interval ? expected.interval->low : expected.mean;
  const double high = expected.interval ? expected.interval->high : expected.mean;
  if (measured >= low && measured <= high) return 0;
  switch (goal.type) {
    case surfaces::GoalType::kMaximize:
      return measured > high ? 1 : -1;
    case surfaces::GoalType::kMinimize:
      return measured < low ? 1 : -1;
    default:
      break;
  }
  const double near = measured > high ? high : low;
  return std::abs(measured - goal.target) < std::abs(near - goal.target) ? 1 : -1;
}

/// The measured run beside what is expected of the optimum, for every ramp goal.
struct RunComparison {
  int better = 0, worse = 0;
  std::string expected;   ///< "y 190 to 220 points"
  bool intervals = true;  ///< whether every part of `expected` is one
};

RunComparison compared(const Analysis& analysis, const std::optional<Confirmation>& confirmation,
                       const study::RunRecord& record) {
  const auto ramps =
      std::max<long>(1, std::count_if(analysis.goals.begin(), analysis.goals.end(),
                                      [](const auto& goal) { return !goal.second.is_limit(); }));
  RunComparison result;
  for (const ResponseAnalysis& response : analysis.responses) {
    const surfaces::Goal* goal = goal_of(analysis, response.response.name);
    if (goal == nullptr || goal->is_limit() || response.surface() == nullptr) continue;
    const Expected expected =
        expected_at_optimum(analysis, response, confirmation, static_cast<int>(ramps));
    const int side = side_of(*goal, record.responses.at(response.response.name), expected);
    result.better += side > 0 ? 1 : 0;
    result.worse += side < 0 ? 1 : 0;
    result.intervals = result.intervals && expected.interval;
    result.expected += (result.expected.empty() ? "" : ", ") + response.response.name + " " +
                       with_unit(expected.interval ? interval_text(*expected.interval)
                                                   : short_number(expected.mean),
                                 response.response.unit);
  }
  return result;
}

/// Whether the optimum meets the limits, by its confirmation runs if they were made.
bool optimum_meets_limits(const Analysis& analysis,
                          const std::optional<Confirmation>& confirmation) {
  if (!analysis.optimum->feasible) return false;
  return !confirmation ||
         std::none_of(confirmation->responses.begin(), confirmation->responses.end(),
                      [](const auto& response) { return response.limit == LimitHeld::kNo; });
}

std::string values_text(const Analysis& analysis, const study::RunRecord& record) {
  std::string values;
  for (const ResponseAnalysis& response : analysis.responses) {
    const std::string& name = response.response.name;
    if (goal_of(analysis, name) == nullptr) continue;
    values += (values.empty() ? "" : ", ") + name + " " +
              with_unit(short_number(record.responses.at(name)), response.response.unit);
  }
  return values;
}

}  // namespace

std::optional<Preference> preference(const Analysis& analysis) {
  const auto best = best_measured_run(analysis);
  if (!best || !analysis.optimum) return std::nullopt;
  const study::RunRecord& record = analysis.records.at(best->run);
  Preference result{*best, false, values_text(analysis, record), {}};
  const auto confirmation = confirmation_of(analysis);
  const bool contradicted =
      confirmation && confirmation->validation == Confirmation::Validation::kNotConfirmed;
  const RunComparison beside = compared(analysis, confirmation, record);
  const std::string expected =
      beside.expected.empty()
          ? ""
          : fmt::format(" ({}{})", beside.expected, beside.intervals ? ", 95 %" : "");
  if (settings_of_run(analysis, best->run) == analysis.optimum->best.settings) {
    result.reason = "It is a run of the optimum.";
  } else if (best->meets_limits != optimum_meets_limits(analysis, confirmation)) {
    result.is_measured = best->meets_limits;
    result.reason = best->meets_limits ? "Prefer it: it meets the limits, and the optimum does not."
                                       : "Prefer the optimum: the run misses a limit.";
  } else if (beside.better > 0 && beside.worse == 0) {
    result.is_measured = true;
    result.reason = fmt::format(
        "Prefer it, and measure it again: it is better than single runs of the optimum are "
        "expected to be{}.",
        expected);
  } else if (beside.worse > 0 && beside.better == 0) {
    result.reason =
        fmt::format("Prefer the optimum: its single runs are expected to be better{}.", expected);
  } else {
    result.reason = fmt::format(
        "{}he run lies within the noise of its single runs{}, and the best of many runs looks "
        "better than it is.",
        contradicted ? "T" : "Prefer the optimum: t", expected);
  }
  return result;
}

std::string preference_text(const Analysis& analysis) {
  const auto preferred = preference(analysis);
  if (!preferred) return "";
  return fmt::format(
      "Best measured: run {} ({}), {}. {}", preferred->run.run,
      settings_text(factors_of(analysis), settings_of_run(analysis, preferred->run.run)),
      preferred->values, preferred->reason);
}

}  // namespace doetune::analysis
