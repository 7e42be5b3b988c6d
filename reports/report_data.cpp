#include "reports/report_data.h"

#include <algorithm>
#include <cmath>

#include "doe/design.h"
#include "reports/effects.h"
#include "reports/figures.h"
#include "reports/format.h"
#include "reports/slice.h"

namespace doetune::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSettings = 1001;

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json numbers(const Eigen::VectorXd& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

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

/// The stops of a slider: usable settings, thinned where there are very many.
std::vector<double> stops(const doe::Factor& factor, double at) {
  const std::vector<double> all = factor.usable_settings();
  std::vector<double> kept = all;
  if (all.size() > kMostSettings) {
    kept.clear();
    for (std::size_t i = 0; i + 1 < kMostSettings; ++i) {
      kept.push_back(all[(all.size() - 1) * i / (kMostSettings - 2)]);
    }
  }
  if (std::find(kept.begin(), kept.end(), at) == kept.end()) kept.push_back(at);
  std::sort(kept.begin(), kept.end());
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

Json goal_json(const surfaces::Goal* goal, const std::string& unit) {
  if (goal == nullptr) return {};
  return {{"text", goal_text(*goal, unit)},
          {"is_limit", goal->is_limit()},
          {"low", number(goal->met_low())},
          {"high", number(goal->met_high())},
          {"scale", goal->scale}};
}

Json columns_json(const doe::Model& model) {
  Json columns = Json::array();
  for (const doe::ModelColumn& column : model.columns()) {
    columns.push_back({{"name", column.name},
                       {"powers", model.terms()[static_cast<std::size_t>(column.term)].powers},
                       {"contrasts", column.contrasts}});
  }
  return columns;
}

Json response_json(const Analysis& analysis, const ResponseAnalysis& response) {
  Json json = {{"name", response.response.name}, {"unit", response.response.unit}};
  json["goal"] = goal_json(goal_of(analysis, response.response.name), response.response.unit);
  json["fitted"] = response.is_plain_polynomial();
  if (!response.is_plain_polynomial()) return json;
  const surfaces::Fit& fit = *response.fit;
  json["transform"] = surfaces::transform_name(fit.transform);
  json["df"] = fit.df_residual;
  json["sigma"] = fit.sigma ? Json(*fit.sigma) : Json();
  json["t"] = fit.df_residual > 0 ? Json(t_quantile_95(fit.df_residual)) : Json();
  json["observed_low"] = fit.observed.minCoeff();
  json["observed_high"] = fit.observed.maxCoeff();
  json["columns"] = columns_json(fit.model);
  json["beta"] = numbers(fit.beta);
  Json covariance = Json::array();
  for (Eigen::Index i = 0; i < fit.unscaled_covariance.rows(); ++i) {
    covariance.push_back(numbers(fit.unscaled_covariance.row(i)));
  }
  json["covariance"] = std::move(covariance);
  return json;
}

/// Residual, fitted value and leverage of a run in every fit that used it.
void add_fit_values(const Analysis& analysis, int run, Json& json) {
  for (const ResponseAnalysis& response : analysis.responses) {
    const auto found = std::find(response.runs.begin(), response.runs.end(), run);
    if (!response.fit || found == response.runs.end()) continue;
    const Eigen::Index row = found - response.runs.begin();
    json["fits"][response.response.name] = {{"fitted", response.fit->fitted[row]},
                                            {"residual", response.fit->residuals[row]},
                                            {"leverage", response.fit->leverage[row]}};
  }
}

Json run_json(const Analysis& analysis, const study::PlannedRun& run) {
  Json json = {{"run", run.run},
               {"type", doe::point_type_name(run.type)},
               {"settings", run.settings},
               {"coded", numbers(doe::coded_point(factors_of(analysis), run.settings))}};
  const auto record = analysis.records.find(run.run);
  if (record == analysis.records.end()) return json;
  json["status"] = study::run_status_name(record->second.status);
  json["responses"] = record->second.responses;
  add_fit_values(analysis, run.run, json);
  return json;
}

}  // namespace

Json report_data(const Analysis& analysis) {
  const Reference at = reference(analysis);
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  Json json = {{"schema_version", 1}, {"study", analysis.directory->study.name}};
  json["constrained"] = !analysis.directory->study.region.is_box();
  json["factors"] = Json::array();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    json["factors"].push_back(factor_json(factors[f], at.settings[f]));
  }
  json["responses"] = Json::array();
  for (const ResponseAnalysis& response : analysis.responses) {
    json["responses"].push_back(response_json(analysis, response));
  }
  json["runs"] = Json::array();
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    json["runs"].push_back(run_json(analysis, run));
  }
  json["reference"] = {{"settings", at.settings}, {"name", at.name}};
  json["optimum"] = analysis.optimum ? Json{{"feasible", analysis.optimum->feasible},
                                            {"settings", analysis.optimum->best.settings}}
                                     : Json();
  return json;
}

}  // namespace doetune::reports
