// optimum.json.
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/confirmation.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"

namespace doetune::reports {
namespace {

using nlohmann::ordered_json;

/// The intervals that hold for all responses together.
ordered_json simultaneous_json(const surfaces::Intervals& intervals) {
  return {{"confidence_interval", interval_json(intervals.confidence)},
          {"prediction_interval", interval_json(intervals.prediction)},
          {"tolerance_interval", interval_json(intervals.tolerance)}};
}

ordered_json candidate_json(const std::vector<doe::Factor>& factors,
                            const surfaces::Candidate& candidate) {
  ordered_json responses = ordered_json::object();
  for (const surfaces::ResponsePrediction& predicted : candidate.predictions) {
    responses[predicted.name] = {
        {"mean", predicted.mean},
        {"confidence_interval", interval_json(predicted.confidence_interval)},
        {"prediction_interval", interval_json(predicted.prediction_interval)},
        {"tolerance_interval", interval_json(predicted.tolerance_interval)},
        {"simultaneous", simultaneous_json(predicted.simultaneous)},
        {"goal_met", predicted.goal_met},
        {"goal_met_probability", number_json(predicted.goal_met_probability)}};
  }
  return {{"settings", settings_json(factors, candidate.settings)},
          {"desirability", candidate.desirability},
          {"responses", responses},
          {"feasibility", number_json(candidate.feasibility)},
          {"all_goals_met_probability", number_json(candidate.all_goals_met_probability)}};
}

ordered_json gain_json(const surfaces::Gain& gain) {
  return {{"difference", gain.difference},
          {"interval", interval_json(gain.interval)},
          {"ratio", number_json(gain.ratio)},
          {"ratio_interval", interval_json(gain.ratio_interval)}};
}

ordered_json gains_json(const std::vector<surfaces::Gain>& gains) {
  ordered_json json = ordered_json::object();
  for (const surfaces::Gain& gain : gains) {
    json[gain.name] = gain_json(gain);
  }
  return json;
}

ordered_json uncertainty_json(const std::vector<doe::Factor>& factors,
                              const std::optional<surfaces::OptimumUncertainty>& uncertainty) {
  if (!uncertainty) return nullptr;
  ordered_json places = ordered_json::object();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const surfaces::FactorUncertainty& place = uncertainty->factors[f];
    if (factors[f].is_categorical()) {
      ordered_json shares = ordered_json::object();
      for (std::size_t level = 0; level < place.shares.size(); ++level) {
        shares[factors[f].level_names[level]] = place.shares[level];
      }
      places[place.name] = {{"shares", shares}};
    } else {
      places[place.name] = {{"interval_90", interval_json(place.settings)}};
    }
  }
  return {{"draws", uncertainty->draws},
          {"exact", uncertainty->exact},
          {"factors", places},
          {"best_shares", uncertainty->best_shares},
          {"expected_desirability_loss", uncertainty->expected_desirability_loss},
          {"expected_response_loss", number_json(uncertainty->expected_response_loss)}};
}

ordered_json robustness_json(const surfaces::Robustness& robustness) {
  ordered_json responses = ordered_json::object();
  for (const surfaces::RobustResponse& response : robustness.responses) {
    responses[response.name] = {{"range", interval_json(response.range)},
                                {"worst", number_json(response.worst)},
                                {"transmitted_deviation", response.transmitted}};
  }
  return {
      {"responses", responses},
      {"limits_met_share", robustness.limits_met_share},
      {"least_all_goals_met_probability", number_json(robustness.least_all_goals_met_probability)}};
}

ordered_json details_json(const std::vector<doe::Factor>& factors,
                          const analysis::OptimumDetails& details) {
  ordered_json equivalents = ordered_json::array(), pareto = ordered_json::array();
  for (const surfaces::Equivalent& equivalent : details.equivalents) {
    ordered_json entry = candidate_json(factors, equivalent.candidate);
    entry["against_best"] = gains_json(equivalent.against_best);
    equivalents.push_back(std::move(entry));
  }
  for (const surfaces::ParetoPoint& point : details.pareto.points) {
    ordered_json entry = candidate_json(factors, point.candidate);
    entry["non_dominated_probability"] = point.non_dominated_probability;
    pareto.push_back(std::move(entry));
  }
  ordered_json relaxations = ordered_json::object();
  for (const surfaces::Relaxation& relaxation : details.relaxations) {
    relaxations[relaxation.name] = {
        {"others_can_be_met", relaxation.feasible},
        {"reachable", relaxation.reachable},
        {"settings", settings_json(factors, relaxation.candidate.settings)}};
  }
  return {{"gains", gains_json(details.gains)},
          {"uncertainty", uncertainty_json(factors, details.uncertainty)},
          {"equivalents", equivalents},
          {"robustness", robustness_json(details.robustness)},
          {"pareto", pareto},
          {"relaxations", relaxations}};
}

/// The goals that were sought, ends of ramps filled in; an open end is null.
ordered_json goals_json(const analysis::Analysis& analysis) {
  const auto bound = [](double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
  };
  ordered_json goals = ordered_json::object();
  for (const auto& [name, goal] : analysis.goals) {
    goals[name] = {{"goal", doe::word_of(goal.type)},
                   {"low", bound(goal.low)},
                   {"high", bound(goal.high)},
                   {"weight", goal.weight},
                   {"importance", goal.importance}};
    if (goal.type == surfaces::GoalType::kTarget) goals[name]["target"] = goal.target;
  }
  return goals;
}

ordered_json measured_json(const surfaces::Prediction& measured, int runs) {
  return {{"runs", runs},
          {"mean", number_json(measured.response())},
          {"confidence_interval", interval_json(measured.confidence_interval())}};
}

ordered_json confirmed_json(const analysis::ConfirmedResponse& response) {
  constexpr const char* kHeld[] = {"yes", "open", "no"};
  ordered_json json = measured_json(response.measured, response.runs);
  json["expected_interval"] = interval_json(response.range);
  json["simultaneous_expected_interval"] = interval_json(response.joint_range);
  json["agrees"] = response.agrees ? ordered_json(*response.agrees) : ordered_json();
  json["limit_held"] = response.limit
                           ? ordered_json(kHeld[static_cast<std::size_t>(*response.limit)])
                           : ordered_json();
  json["baseline"] = response.baseline ? measured_json(*response.baseline, response.baseline_runs)
                                       : ordered_json();
  json["gain"] = response.gain ? gain_json(*response.gain) : ordered_json();
  return json;
}

/// null where no confirmation runs are planned at the optimum.
ordered_json confirmation_json(const analysis::Analysis& analysis) {
  constexpr const char* kValidations[] = {"open", "confirmed", "not confirmed", "no gain"};
  const std::optional<analysis::Confirmation> confirmation = analysis::confirmation_of(analysis);
  if (!confirmation) return nullptr;
  ordered_json responses = ordered_json::object();
  for (const analysis::ConfirmedResponse& response : confirmation->responses) {
    responses[response.name] = confirmed_json(response);
  }
  return {{"judgement", kValidations[static_cast<std::size_t>(confirmation->validation)]},
          {"runs", confirmation->planned.confirmation},
          {"baseline_runs", confirmation->planned.baseline},
          {"completed", confirmation->completed},
          {"missing", confirmation->missing},
          {"failed", confirmation->failed},
          {"responses", responses}};
}

}  // namespace

std::string optimum_json(const analysis::Analysis& analysis) {
  ordered_json json{{"schema_version", kSchemaVersion}, {"study", analysis.directory->study.name}};
  if (!analysis.optimum) {
    json["feasible"] = false;
    json["problem"] = analysis.optimum_problem;
    return json.dump(2) + "\n";
  }
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  const surfaces::Optimum& optimum = *analysis.optimum;
  json["feasible"] = optimum.feasible;
  json.update(candidate_json(factors, optimum.best));
  json["alternatives"] = ordered_json::array();
  for (const surfaces::Candidate& candidate : optimum.alternatives) {
    json["alternatives"].push_back(candidate_json(factors, candidate));
  }
  json["baseline"] =
      optimum.baseline ? candidate_json(factors, *optimum.baseline) : ordered_json(nullptr);
  json["confirmation"] = confirmation_json(analysis);
  json["goals"] = goals_json(analysis);
  json["at_bound"] = optimum.at_bound;
  json["global"] = optimum.global;
  json["most_to_gain"] = number_json(optimum.most_to_gain);
  json.update(details_json(factors, *analysis.details));
  return json.dump(2) + "\n";
}

}  // namespace doetune::reports
