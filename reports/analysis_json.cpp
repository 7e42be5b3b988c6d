// fit.json and optimum.json.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/analysis.h"

namespace doetune::reports {
namespace {

using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

ordered_json number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json vector(const Eigen::VectorXd& values) {
  return std::vector<double>(values.begin(), values.end());
}

ordered_json settings_json(const std::vector<doe::Factor>& factors,
                           const std::vector<double>& settings) {
  ordered_json json = ordered_json::object();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].is_categorical()) {
      json[factors[f].name] = factors[f].format(settings[f]);
    } else {
      json[factors[f].name] = settings[f];
    }
  }
  return json;
}

ordered_json coefficient_rows(const std::vector<surfaces::Coefficient>& coefficients) {
  ordered_json rows = ordered_json::array();
  for (const surfaces::Coefficient& c : coefficients) {
    rows.push_back({{"term", c.term},
                    {"estimate", c.estimate},
                    {"std_error", number(c.std_error)},
                    {"t", number(c.t)},
                    {"p", number(c.p)},
                    {"vif", number(c.vif)}});
  }
  return rows;
}

ordered_json natural_rows(const surfaces::Fit& fit) {
  ordered_json rows = ordered_json::array();
  for (const surfaces::NaturalCoefficient& c : fit.natural_coefficients) {
    rows.push_back(
        {{"term", c.term}, {"estimate", c.estimate}, {"std_error", number(c.std_error)}});
  }
  return rows;
}

ordered_json anova_rows(const surfaces::Fit& fit) {
  ordered_json rows = ordered_json::array();
  for (const surfaces::AnovaRow& row : fit.anova) {
    rows.push_back({{"source", row.source},
                    {"df", row.df},
                    {"sum_of_squares", row.sum_of_squares},
                    {"mean_square", number(row.mean_square)},
                    {"f", number(row.f)},
                    {"p", number(row.p)}});
  }
  return rows;
}

ordered_json lack_of_fit_json(const surfaces::Fit& fit) {
  if (!fit.lack_of_fit) return nullptr;
  return {{"df", fit.lack_of_fit->df},
          {"df_pure_error", fit.lack_of_fit->df_pure_error},
          {"f", fit.lack_of_fit->f},
          {"p", fit.lack_of_fit->p}};
}

ordered_json stationary_json(const surfaces::Fit& fit) {
  if (!fit.stationary_point) return nullptr;
  const surfaces::StationaryPoint& point = *fit.stationary_point;
  ordered_json vectors = ordered_json::array();
  for (Eigen::Index c = 0; c < point.eigenvectors.cols(); ++c) {
    vectors.push_back(vector(point.eigenvectors.col(c)));
  }
  return {{"settings", settings_json(fit.model.factors(), point.settings)},
          {"coded", vector(point.coded)},
          {"value", point.value},
          {"kind", point.kind},
          {"eigenvalues", vector(point.eigenvalues)},
          {"eigenvectors", vectors},
          {"inside_region", point.inside_region}};
}

ordered_json fit_document(const surfaces::Fit& fit) {
  return {{"model", fit.model.term_names()},
          {"transform", surfaces::transform_name(fit.transform)},
          {"n", fit.n},
          {"sigma", number(fit.sigma)},
          {"df_residual", fit.df_residual},
          {"r2", fit.r2},
          {"adjusted_r2", number(fit.adjusted_r2)},
          {"predicted_r2", number(fit.predicted_r2)},
          {"press", number(fit.press)},
          {"aicc", number(fit.aicc)},
          {"adequate_precision", number(fit.adequate_precision)},
          {"coefficients", coefficient_rows(fit.coefficients)},
          {"natural_coefficients", natural_rows(fit)},
          {"anova", anova_rows(fit)},
          {"lack_of_fit", lack_of_fit_json(fit)},
          {"block_effects", coefficient_rows(fit.block_effects)},
          {"stationary_point", stationary_json(fit)}};
}

ordered_json interval(const std::optional<surfaces::Interval>& value) {
  if (!value) return nullptr;
  return ordered_json::array({value->low, value->high});
}

ordered_json candidate_json(const std::vector<doe::Factor>& factors,
                            const surfaces::Candidate& candidate) {
  ordered_json responses = ordered_json::object();
  for (const surfaces::Outlook& outlook : candidate.outlooks) {
    responses[outlook.name] = {{"mean", outlook.mean},
                               {"confidence_interval", interval(outlook.confidence_interval)},
                               {"prediction_interval", interval(outlook.prediction_interval)},
                               {"goal_met", outlook.goal_met},
                               {"goal_met_probability", number(outlook.goal_met_probability)}};
  }
  return {{"settings", settings_json(factors, candidate.settings)},
          {"desirability", candidate.desirability},
          {"responses", responses},
          {"all_goals_met_probability", number(candidate.all_goals_met_probability)}};
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

std::string fit_json(const Analysis& analysis) {
  ordered_json responses = ordered_json::object();
  for (const ResponseAnalysis& response : analysis.responses) {
    responses[response.response.name] =
        response.fit ? fit_document(*response.fit) : ordered_json{{"problem", response.problem}};
  }
  return ordered_json{{"schema_version", kSchemaVersion},
                      {"study", analysis.directory->study.name},
                      {"responses", responses}}
             .dump(2) +
         "\n";
}

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
