// fit.json.
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/run_quality.h"
#include "analysis/trust.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"
#include "surfaces/models/gaussian_process.h"

namespace doetune::reports {
namespace {

using nlohmann::ordered_json;

ordered_json coefficient_rows(const std::vector<surfaces::Coefficient>& coefficients) {
  ordered_json rows = ordered_json::array();
  for (const surfaces::Coefficient& c : coefficients) {
    rows.push_back({{"term", c.term},
                    {"estimate", c.estimate},
                    {"std_error", number_json(c.std_error)},
                    {"df", number_json(c.df)},
                    {"t", number_json(c.t)},
                    {"p", number_json(c.p)},
                    {"vif", number_json(c.vif)}});
  }
  return rows;
}

ordered_json natural_rows(const surfaces::Fit& fit) {
  ordered_json rows = ordered_json::array();
  for (const surfaces::NaturalCoefficient& c : fit.natural_coefficients) {
    rows.push_back(
        {{"term", c.term}, {"estimate", c.estimate}, {"std_error", number_json(c.std_error)}});
  }
  return rows;
}

ordered_json anova_rows(const surfaces::Fit& fit) {
  ordered_json rows = ordered_json::array();
  for (const surfaces::AnovaRow& row : fit.anova) {
    rows.push_back({{"source", row.source},
                    {"df", row.df},
                    {"sum_of_squares", row.sum_of_squares},
                    {"mean_square", number_json(row.mean_square)},
                    {"f", number_json(row.f)},
                    {"p", number_json(row.p)}});
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

ordered_json certainty_json(const surfaces::ShapeCertainty& certainty) {
  ordered_json intervals = ordered_json::array();
  for (const surfaces::Interval& interval : certainty.eigenvalue_intervals) {
    intervals.push_back(interval_json(interval));
  }
  return {{"eigenvalue_intervals", intervals},
          {"probability",
           {{"maximum", certainty.maximum},
            {"minimum", certainty.minimum},
            {"saddle", certainty.saddle}}}};
}

ordered_json stationary_json(const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  if (!fit.stationary_point) return nullptr;
  const surfaces::StationaryPoint& point = *fit.stationary_point;
  ordered_json vectors = ordered_json::array();
  for (Eigen::Index c = 0; c < point.eigenvectors.cols(); ++c) {
    vectors.push_back(vector_json(point.eigenvectors.col(c)));
  }
  ordered_json json{{"settings", settings_json(fit.model.factors(), point.settings)},
                    {"coded", vector_json(point.coded)},
                    {"value", point.value},
                    {"kind", point.kind},
                    {"eigenvalues", vector_json(point.eigenvalues)},
                    {"eigenvectors", vectors},
                    {"inside_region", point.inside_region}};
  if (response.diagnostics.shape) json.update(certainty_json(*response.diagnostics.shape));
  return json;
}

ordered_json path_json(const std::vector<doe::Factor>& factors,
                       const std::vector<surfaces::PathPoint>& path) {
  ordered_json json = ordered_json::array();
  for (const surfaces::PathPoint& point : path) {
    json.push_back({{"distance", point.distance},
                    {"settings", settings_json(factors, point.settings)},
                    {"mean", point.prediction.response()},
                    {"confidence_interval", interval_json(point.prediction.confidence_interval())},
                    {"inside_region", point.inside_region}});
  }
  return json;
}

/// Where the response rises and falls fastest from the centre, categorical factors at their first
/// level; null where the model has no quadratic form.
ordered_json paths_json(const surfaces::Fit& fit, const doe::Region& region) {
  const std::vector<doe::Factor>& factors = fit.model.factors();
  const Eigen::VectorXd at = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(factors.size()));
  const auto ascent = surfaces::steepest_path(fit, region, at, true);
  if (!ascent) return nullptr;
  const auto descent = surfaces::steepest_path(fit, region, at, false);
  return {{"ridge_of_highest", path_json(factors, ridge_path(fit, region, at, true))},
          {"ridge_of_lowest", path_json(factors, ridge_path(fit, region, at, false))},
          {"steepest_ascent", path_json(factors, ascent->points)},
          {"steepest_descent", path_json(factors, descent->points)},
          {"cone_share", number_json(ascent->cone_share)}};
}

template <typename Test>
ordered_json test_json(const std::optional<Test>& test) {
  if (!test) return nullptr;
  return {{"statistic", test->statistic}, {"p", test->p}};
}

ordered_json drift_json(const std::optional<surfaces::DriftTest>& drift) {
  if (!drift) return nullptr;
  return {
      {"slope", drift->slope}, {"std_error", drift->std_error}, {"t", drift->t}, {"p", drift->p}};
}

ordered_json diagnostics_json(const analysis::ResponseAnalysis& response) {
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < response.runs.size(); ++i) {
    const surfaces::RunInfluence& run = response.diagnostics.runs[i];
    const auto row = static_cast<Eigen::Index>(i);
    runs.push_back({{"run", response.runs[i]},
                    {"fitted", response.fit->fitted[row]},
                    {"residual", response.fit->residuals[row]},
                    {"leverage", run.leverage},
                    {"studentised", number_json(run.studentised)},
                    {"deleted", number_json(run.deleted)},
                    {"cooks_distance", number_json(run.cooks_distance)},
                    {"dffits", number_json(run.dffits)},
                    {"outlier", run.outlier},
                    {"influential", run.influential},
                    {"high_leverage", run.high_leverage}});
  }
  return {{"runs", runs},
          {"drift", drift_json(response.diagnostics.drift)},
          {"normality", test_json(response.diagnostics.normality)},
          {"spread", test_json(response.diagnostics.spread)}};
}

ordered_json findings_json(const std::vector<analysis::Finding>& found) {
  constexpr const char* kWeights[] = {"note", "care", "grave"};
  ordered_json json = ordered_json::array();
  for (const analysis::Finding& finding : found) {
    json.push_back({{"weight", kWeights[static_cast<std::size_t>(finding.weight)]},
                    {"sentence", finding.sentence},
                    {"remedy", finding.remedy}});
  }
  return json;
}

ordered_json sequential_json(const std::optional<surfaces::SequentialSummary>& summary) {
  if (!summary) return nullptr;
  ordered_json steps = ordered_json::array();
  for (const surfaces::SequentialStep& step : summary->steps) {
    steps.push_back({{"model", step.model},
                     {"aliased", step.aliased},
                     {"problem", step.problem},
                     {"df", step.df},
                     {"sum_of_squares", number_json(step.sum_of_squares)},
                     {"f", number_json(step.f)},
                     {"p", number_json(step.p)},
                     {"lack_of_fit_p", number_json(step.lack_of_fit_p)},
                     {"sigma", number_json(step.sigma)},
                     {"r2", number_json(step.r2)},
                     {"adjusted_r2", number_json(step.adjusted_r2)},
                     {"predicted_r2", number_json(step.predicted_r2)},
                     {"press", number_json(step.press)},
                     {"aicc", number_json(step.aicc)}});
  }
  return {{"steps", steps}, {"suggested", summary->suggested}, {"reason", summary->reason}};
}

ordered_json selection_json(const std::optional<surfaces::Selection>& selection) {
  if (!selection) return nullptr;
  ordered_json steps = ordered_json::array(), near = ordered_json::array();
  for (const surfaces::SelectionStep& step : selection->steps) {
    steps.push_back({{"term", step.term},
                     {"entered", step.entered},
                     {"aicc", step.aicc},
                     {"p", number_json(step.p)}});
  }
  for (const surfaces::NearModel& model : selection->near_best) {
    near.push_back({{"model", model.terms}, {"aicc", model.aicc}, {"weight", model.weight}});
  }
  return {{"steps", steps},
          {"near_best", near},
          {"models_compared", selection->models_compared},
          {"exhaustive", selection->exhaustive},
          {"warning", selection->warning}};
}

ordered_json box_cox_json(const std::optional<surfaces::BoxCox>& profile) {
  if (!profile) return nullptr;
  return {{"lambda", profile->lambda},
          {"interval", interval_json(profile->interval)},
          {"suggestion", surfaces::transform_name(profile->suggestion)}};
}

ordered_json split_plot_json(const std::optional<surfaces::SplitPlot>& split_plot) {
  if (!split_plot) return nullptr;
  ordered_json tests = ordered_json::array();
  for (const surfaces::PartTest& test : split_plot->tests) {
    tests.push_back({{"source", test.source},
                     {"df", test.df},
                     {"df_error", test.df_error},
                     {"f", test.f},
                     {"p", number_json(test.p)}});
  }
  return {{"whole_plots", split_plot->whole_plots},
          {"whole_plot_variance", split_plot->whole_plot_variance},
          {"whole_plot_std_error", split_plot->whole_plot_std_error},
          {"run_variance", split_plot->run_variance},
          {"run_std_error", split_plot->run_std_error},
          {"tests", tests},
          {"note", split_plot->note}};
}

ordered_json choice_json(const std::optional<surfaces::SurfaceChoice>& choice) {
  if (!choice) return nullptr;
  ordered_json candidates = ordered_json::array();
  for (const surfaces::SurfaceCandidate& candidate : choice->candidates) {
    candidates.push_back({{"name", candidate.name},
                          {"loo_rms", number_json(candidate.loo_rms)},
                          {"predicted_r2", number_json(candidate.predicted_r2)},
                          {"lack_of_fit_p", number_json(candidate.lack_of_fit_p)},
                          {"problem", candidate.problem}});
  }
  return {{"chosen", choice->best().name}, {"reason", choice->reason}, {"candidates", candidates}};
}

ordered_json estimates_json(const std::vector<surfaces::ParameterEstimate>& estimates) {
  ordered_json json = ordered_json::array();
  for (const surfaces::ParameterEstimate& estimate : estimates) {
    json.push_back({{"name", estimate.name},
                    {"meaning", estimate.meaning},
                    {"level", estimate.level},
                    {"estimate", estimate.estimate},
                    {"std_error", number_json(estimate.std_error)},
                    {"interval", interval_json(estimate.interval)},
                    {"at_bound", estimate.at_bound}});
  }
  return json;
}

/// What the surface that stands in for the polynomial says of itself.
ordered_json other_json(const surfaces::Surface* surface) {
  if (const auto* parametric = dynamic_cast<const surfaces::ParametricFit*>(surface)) {
    return {{"equation", parametric->model.equation},
            {"transform", surfaces::transform_name(parametric->transform)},
            {"sigma", number_json(parametric->sigma)},
            {"r2", parametric->r2},
            {"parameters", estimates_json(parametric->estimates)},
            {"sizes", estimates_json(parametric->sizes)},
            {"notes", parametric->notes}};
  }
  if (const auto* process = dynamic_cast<const surfaces::GaussianProcess*>(surface)) {
    return {{"correlations", process->parameters.correlations},
            {"process_sigma", process->process_sigma},
            {"sigma", process->sigma},
            {"predicted_r2", number_json(process->predicted_r2)},
            {"loo_coverage", process->loo_coverage()},
            {"log_likelihood", process->log_likelihood}};
  }
  return nullptr;
}

ordered_json feasibility_json(const std::optional<surfaces::Feasibility>& feasibility) {
  if (!feasibility) return nullptr;
  return {{"model", feasibility->model.term_names()},
          {"completed", feasibility->completed},
          {"infeasible", feasibility->infeasible},
          {"coefficients", coefficient_rows(feasibility->coefficients)},
          {"note", feasibility->note}};
}

/// What is known of the surface besides the polynomial.
ordered_json surface_document(const analysis::ResponseAnalysis& response) {
  return {{"kind", doe::word_of(response.kind)},
          {"other", other_json(response.other.get())},
          {"choice", choice_json(response.choice)}};
}

ordered_json fit_document(const analysis::ResponseAnalysis& response, const doe::Region& region) {
  const surfaces::Fit& fit = *response.fit;
  return {{"model", fit.model.term_names()},
          {"transform", surfaces::transform_name(fit.transform)},
          {"n", fit.n},
          {"sigma", number_json(fit.sigma)},
          {"df_residual", fit.df_residual},
          {"r2", fit.r2},
          {"adjusted_r2", number_json(fit.adjusted_r2)},
          {"predicted_r2", number_json(fit.predicted_r2)},
          {"press", number_json(fit.press)},
          {"aicc", number_json(fit.aicc)},
          {"adequate_precision", number_json(fit.adequate_precision)},
          {"coefficients", coefficient_rows(fit.coefficients)},
          {"natural_coefficients", natural_rows(fit)},
          {"anova", anova_rows(fit)},
          {"lack_of_fit", lack_of_fit_json(fit)},
          {"block_effects", coefficient_rows(fit.block_effects)},
          {"stationary_point", stationary_json(response)},
          {"paths", paths_json(fit, region)},
          {"diagnostics", diagnostics_json(response)},
          {"sequential", sequential_json(response.sequential)},
          {"selection", selection_json(response.selection)},
          {"box_cox", box_cox_json(response.box_cox)},
          {"split_plot", split_plot_json(fit.split_plot)},
          {"verdict", analysis::trust(response).sentence},
          {"findings", findings_json(analysis::findings(response))}};
}

}  // namespace

std::string fit_json(const analysis::Analysis& analysis) {
  ordered_json responses = ordered_json::object();
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    ordered_json document = response.fit ? fit_document(response, analysis.directory->study.region)
                                         : ordered_json::object();
    if (!response.problem.empty()) document["problem"] = response.problem;
    document["surface"] = surface_document(response);
    responses[response.response.name] = std::move(document);
  }
  return ordered_json{{"schema_version", kSchemaVersion},
                      {"study", analysis.directory->study.name},
                      {"responses", responses},
                      {"findings", findings_json(analysis::run_findings(analysis))},
                      {"feasibility", feasibility_json(analysis.feasibility)}}
             .dump(2) +
         "\n";
}

}  // namespace doetune::reports
