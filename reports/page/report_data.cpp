#include "reports/page/report_data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/failed_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "base/json_format.h"
#include "doe/design.h"
#include "reports/figures/axes.h"
#include "reports/json/surface_json.h"

namespace doetune::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLinearPlaces = 981, kLogPlaces = 201;  // of a slider's stops

std::string kind_name(doe::FactorKind kind) {
  switch (kind) {
    case doe::FactorKind::kContinuous:
      return "continuous";
    case doe::FactorKind::kInteger:
      return "integer";
    case doe::FactorKind::kDiscrete:
      return "discrete";
    case doe::FactorKind::kCategorical:
      return "categorical";
  }
  return {};
}

std::string scale_name(doe::Scale scale) {
  switch (scale) {
    case doe::Scale::kLinear:
      return "linear";
    case doe::Scale::kLog2:
      return "log2";
    case doe::Scale::kLog10:
      return "log10";
  }
  return {};
}

/// The stops of a slider: permitted settings including `at`; if they are very many or on a
/// logarithmic scale, those nearest to equidistant places on the factor's scale, and its ticks.
std::vector<double> stops(const doe::Factor& factor, double at) {
  std::vector<double> kept = factor.usable_settings();
  const bool log =
      factor.scale != doe::Scale::kLinear &&
      (factor.kind == doe::FactorKind::kInteger || factor.kind == doe::FactorKind::kContinuous);
  if (log || static_cast<int>(kept.size()) > kLinearPlaces) {
    const int places = log ? kLogPlaces : kLinearPlaces;
    kept = marked_settings(factor);
    for (int i = 0; i < places; ++i) {
      kept.push_back(factor.to_natural(-1 + 2.0 * i / (places - 1)));
    }
    for (double& setting : kept) setting = factor.snap(setting);
  }
  kept.push_back(at);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

Json factor_json(const doe::Factor& factor, double at) {
  Json json = {{"name", factor.name},
               {"unit", factor.unit},
               {"kind", kind_name(factor.kind)},
               {"scale", scale_name(factor.scale)},
               {"low", factor.low},
               {"high", factor.high},
               {"level_names", factor.level_names},
               {"usable", stops(factor, at)}};
  if (!factor.is_categorical()) json["ticks"] = marked_settings(factor);
  json["baseline"] = factor.baseline ? Json(*factor.baseline) : Json();
  return json;
}

/// The observed values of completed runs.
Eigen::VectorXd observed_of(const analysis::Analysis& analysis, const std::string& response) {
  std::vector<double> values;
  for (const auto& [run, record] : analysis.records) {
    const auto value = record.responses.find(response);
    if (record.status == study::RunStatus::kCompleted && value != record.responses.end()) {
      values.push_back(value->second);
    }
  }
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Json goal_json(const surfaces::Goal* goal, const std::string& unit) {
  if (goal == nullptr) return {};
  return {{"text", analysis::goal_text(*goal, unit)},
          {"is_limit", goal->is_limit()},
          {"low", goal->met_low()},
          {"high", goal->met_high()},
          {"scale", goal->scale},
          {"confidence", goal->confidence}};
}

/// Constraints as written, and forbidden combinations with factor indices.
Json region_json(const doe::Region& region) {
  Json json = {{"constraints", Json::array()}, {"forbidden", Json::array()}};
  for (const auto& constraint : region.constraints()) {
    json["constraints"].push_back(constraint->text());
  }
  for (const doe::Forbidden& combination : region.forbidden()) {
    Json& conditions = json["forbidden"].emplace_back(Json::array());
    for (const doe::Condition& condition : combination) {
      conditions.push_back({{"factor", condition.factor},
                            {"comparison", doe::symbol(condition.comparison)},
                            {"value", condition.value}});
    }
  }
  return json;
}

Json response_json(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response) {
  const std::string& unit = response.response.unit;
  Json json = {{"name", response.response.name}, {"unit", unit}};
  json["goal"] = goal_json(analysis::goal_of(analysis, response.response.name), unit);
  const Eigen::VectorXd observed = observed_of(analysis, response.response.name);
  if (response.surface() == nullptr || observed.size() == 0) return json;
  json["observed_low"] = observed.minCoeff();
  json["observed_high"] = observed.maxCoeff();
  if (const Json surface = surface_json(*response.surface()); !surface.is_null()) {
    json.update(surface);
  }
  return json;
}

/// Replaces a covariance equal to that of an earlier response by the index of that response.
void share_covariances(Json& responses) {
  for (std::size_t r = 0; r < responses.size(); ++r) {
    for (std::size_t earlier = 0; earlier < r; ++earlier) {
      if (!responses[r].contains("covariance") || !responses[earlier].contains("covariance"))
        continue;
      if (responses[r]["covariance"] != responses[earlier]["covariance"]) continue;
      responses[r]["covariance"] = earlier;
      break;
    }
  }
}

/// `values` are in the order of the responses, null if missing.
Json run_json(const analysis::Analysis& analysis, const study::PlannedRun& run, bool infeasible) {
  Json json = {{"run", run.run}, {"settings", run.settings}, {"values", Json::array()}};
  const auto record = analysis.records.find(run.run);
  if (record == analysis.records.end()) return json;
  json["status"] = study::run_status_name(record->second.status);
  if (infeasible) json["infeasible"] = true;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    const auto value = record->second.responses.find(response.response.name);
    json["values"].push_back(value == record->second.responses.end() ? Json()
                                                                     : Json(value->second));
  }
  return json;
}

/// What to expect at the optimum, by response: of those with a posterior, which the page does not
/// have.
Json expected_json(const surfaces::Candidate& best) {
  Json json = Json::object();
  for (const surfaces::ResponsePrediction& predicted : best.predictions) {
    if (!predicted.expected || !predicted.confidence_interval) continue;
    const auto& [low, high] = *predicted.confidence_interval;
    json[predicted.name] = {{"mean", *predicted.expected}, {"confidence_interval", {low, high}}};
  }
  return json;
}

}  // namespace

Json report_data(const analysis::Analysis& analysis) {
  const analysis::Reference at = analysis::reference(analysis);
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  Json json = {{"schema_version", json::kSchemaVersion}, {"study", analysis.directory->study.name}};
  json["region"] = region_json(analysis.directory->study.region);
  json["feasibility"] = analysis.feasibility ? feasibility_json(*analysis.feasibility) : Json();
  if (analysis.feasibility) json["feasibility"]["minimum"] = analysis.min_feasibility;
  json["factors"] = Json::array();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    json["factors"].push_back(factor_json(factors[f], at.settings[f]));
  }
  json["responses"] = Json::array();
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    json["responses"].push_back(response_json(analysis, response));
  }
  share_covariances(json["responses"]);
  json["runs"] = Json::array();
  const std::set<int> infeasible =
      analysis::infeasible_runs(analysis.directory->plan, analysis.records);
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    json["runs"].push_back(run_json(analysis, run, infeasible.contains(run.run)));
  }
  json["reference"] = {{"settings", at.settings}, {"name", at.name}};
  json["optimum"] = analysis.optimum ? Json{{"feasible", analysis.optimum->feasible},
                                            {"settings", analysis.optimum->best.settings},
                                            {"expected", expected_json(analysis.optimum->best)}}
                                     : Json();
  return json;
}

}  // namespace doetune::reports
