// optimum.json.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/analysis.h"
#include "reports/json_parts.h"

namespace doetune::reports {
namespace {

using nlohmann::ordered_json;

ordered_json candidate_json(const std::vector<doe::Factor>& factors,
                            const surfaces::Candidate& candidate) {
  ordered_json responses = ordered_json::object();
  for (const surfaces::Outlook& outlook : candidate.outlooks) {
    responses[outlook.name] = {{"mean", outlook.mean},
                               {"confidence_interval", interval_json(outlook.confidence_interval)},
                               {"prediction_interval", interval_json(outlook.prediction_interval)},
                               {"goal_met", outlook.goal_met},
                               {"goal_met_probability", number_json(outlook.goal_met_probability)}};
  }
  return {{"settings", settings_json(factors, candidate.settings)},
          {"desirability", candidate.desirability},
          {"responses", responses},
          {"all_goals_met_probability", number_json(candidate.all_goals_met_probability)}};
}

/// The goals that were sought, ends of ramps filled in; an open end is null.
ordered_json goals_json(const Analysis& analysis) {
  constexpr const char* kTypes[] = {"maximize", "minimize", "target",
                                    "within",   "at_most",  "at_least"};
  const auto bound = [](double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
  };
  ordered_json goals = ordered_json::object();
  for (const auto& [name, goal] : analysis.goals) {
    goals[name] = {{"goal", kTypes[static_cast<std::size_t>(goal.type)]},
                   {"low", bound(goal.low)},
                   {"high", bound(goal.high)},
                   {"weight", goal.weight},
                   {"importance", goal.importance}};
    if (goal.type == surfaces::GoalType::kTarget) goals[name]["target"] = goal.target;
  }
  return goals;
}

}  // namespace

std::string optimum_json(const Analysis& analysis) {
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
  json["goals"] = goals_json(analysis);
  json["at_bound"] = optimum.at_bound;
  json["global"] = optimum.global;
  return json.dump(2) + "\n";
}

}  // namespace doetune::reports
