// Writes fit.json.
#include "analysis/run_quality.h"
#include "analysis/trust.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"
#include "surfaces/models/gaussian_process.h"

namespace doetune::reports {
namespace {

using analysis::ResponseAnalysis;

json::Format<surfaces::Coefficient> coefficient_format() {
  using surfaces::Coefficient;
  return json::object<Coefficient>({{"term", &Coefficient::term},
                                    {"estimate", &Coefficient::estimate},
                                    {"std_error", &Coefficient::std_error},
                                    {"df", &Coefficient::df},
                                    {"t", &Coefficient::t},
                                    {"p", &Coefficient::p},
                                    {"vif", &Coefficient::vif}});
}

json::Format<surfaces::NaturalCoefficient> natural_coefficient_format() {
  using surfaces::NaturalCoefficient;
  return json::object<NaturalCoefficient>({{"term", &NaturalCoefficient::term},
                                           {"estimate", &NaturalCoefficient::estimate},
                                           {"std_error", &NaturalCoefficient::std_error}});
}

json::Format<surfaces::AnovaRow> anova_row_format() {
  using surfaces::AnovaRow;
  return json::object<AnovaRow>({{"source", &AnovaRow::source},
                                 {"df", &AnovaRow::df},
                                 {"sum_of_squares", &AnovaRow::sum_of_squares},
                                 {"mean_square", &AnovaRow::mean_square},
                                 {"f", &AnovaRow::f},
                                 {"p", &AnovaRow::p}});
}

json::Format<surfaces::LackOfFit> lack_of_fit_format() {
  using surfaces::LackOfFit;
  return json::object<LackOfFit>({{"df", &LackOfFit::df},
                                  {"df_pure_error", &LackOfFit::df_pure_error},
                                  {"f", &LackOfFit::f},
                                  {"p", &LackOfFit::p}});
}

json::Format<surfaces::ShapeCertainty> certainty_format() {
  using surfaces::ShapeCertainty;
  const auto probability = json::object<ShapeCertainty>({{"maximum", &ShapeCertainty::maximum},
                                                         {"minimum", &ShapeCertainty::minimum},
                                                         {"saddle", &ShapeCertainty::saddle}});
  return json::object<ShapeCertainty>(
      {{"eigenvalue_intervals", &ShapeCertainty::eigenvalue_intervals, interval_format()},
       {"probability", std::identity(), probability}});
}

std::vector<Eigen::VectorXd> eigenvectors(const surfaces::StationaryPoint& point) {
  const auto columns = point.eigenvectors.colwise();
  return {columns.begin(), columns.end()};
}

json::Format<ResponseAnalysis> stationary_point_format(const std::vector<doe::Factor>& factors) {
  using surfaces::StationaryPoint;
  const auto kinds = json::words({"maximum", "minimum", "saddle", "ridge"});
  const auto point = json::object<StationaryPoint>(
      {{"settings", &StationaryPoint::settings, settings_format(factors)},
       {"coded", &StationaryPoint::coded},
       {"value", &StationaryPoint::value},
       {"kind", &StationaryPoint::kind, kinds},
       {"eigenvalues", &StationaryPoint::eigenvalues},
       {"eigenvectors", eigenvectors},
       {"inside_region", &StationaryPoint::inside_region}});
  return json::object<ResponseAnalysis>(
      {{[](const ResponseAnalysis& response) { return *response.fit->stationary_point; }, point},
       {[](const ResponseAnalysis& response) { return response.diagnostics.shape; },
        certainty_format()}});
}

json::Format<surfaces::PathPoint> path_point_format(const std::vector<doe::Factor>& factors) {
  using surfaces::PathPoint;
  return json::object<PathPoint>(
      {{"distance", &PathPoint::distance},
       {"settings", &PathPoint::settings, settings_format(factors)},
       {"mean", [](const PathPoint& point) { return point.prediction.response(); }},
       {"confidence_interval",
        [](const PathPoint& point) { return point.prediction.confidence_interval(); },
        interval_format()},
       {"inside_region", &PathPoint::inside_region}});
}

/// Ridge and steepest-ascent paths from the centre, with categorical factors at their first level.
struct Paths {
  std::vector<surfaces::PathPoint> highest, lowest, ascent, descent;
  std::optional<double> cone_fraction;
};

/// Empty if the model has no quadratic form.
std::optional<Paths> paths_of(const surfaces::Fit& fit, const doe::Region& region) {
  const auto count = static_cast<Eigen::Index>(fit.model.factors().size());
  const Eigen::VectorXd at = Eigen::VectorXd::Zero(count);
  const auto ascent = surfaces::steepest_path(fit, region, at, true);
  if (!ascent) return std::nullopt;
  const auto descent = surfaces::steepest_path(fit, region, at, false);
  return Paths{ridge_path(fit, region, at, true), ridge_path(fit, region, at, false),
               ascent->points, descent->points, ascent->cone_fraction};
}

json::Format<Paths> paths_format(const std::vector<doe::Factor>& factors) {
  const auto point = path_point_format(factors);
  return json::object<Paths>({{"ridge_of_highest", &Paths::highest, point},
                              {"ridge_of_lowest", &Paths::lowest, point},
                              {"steepest_ascent", &Paths::ascent, point},
                              {"steepest_descent", &Paths::descent, point},
                              {"cone_fraction", &Paths::cone_fraction}});
}

struct FittedRun : surfaces::RunInfluence {
  int run;
  double fitted, residual;
};

std::vector<FittedRun> fitted_runs(const ResponseAnalysis& response) {
  std::vector<FittedRun> runs;
  for (std::size_t i = 0; i < response.runs.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    runs.push_back({response.diagnostics.runs[i], response.runs[i], response.fit->fitted[row],
                    response.fit->residuals[row]});
  }
  return runs;
}

json::Format<FittedRun> fitted_run_format() {
  return json::object<FittedRun>({{"run", &FittedRun::run},
                                  {"fitted", &FittedRun::fitted},
                                  {"residual", &FittedRun::residual},
                                  {"leverage", &FittedRun::leverage},
                                  {"studentised", &FittedRun::studentised},
                                  {"deleted", &FittedRun::deleted},
                                  {"cooks_distance", &FittedRun::cooks_distance},
                                  {"dffits", &FittedRun::dffits},
                                  {"outlier", &FittedRun::outlier},
                                  {"influential", &FittedRun::influential},
                                  {"high_leverage", &FittedRun::high_leverage}});
}

json::Format<analysis::FitDiagnostics> tests_format() {
  using analysis::FitDiagnostics, surfaces::AssumptionTest, surfaces::DriftTest;
  const auto drift = json::object<DriftTest>({{"slope", &DriftTest::slope},
                                              {"std_error", &DriftTest::std_error},
                                              {"t", &DriftTest::t},
                                              {"p", &DriftTest::p}});
  const auto test = json::object<AssumptionTest>(
      {{"statistic", &AssumptionTest::statistic}, {"p", &AssumptionTest::p}});
  return json::object<FitDiagnostics>({{"drift", &FitDiagnostics::drift, drift},
                                       {"normality", &FitDiagnostics::normality, test},
                                       {"spread", &FitDiagnostics::spread, test}});
}

json::Format<ResponseAnalysis> diagnostics_format() {
  return json::object<ResponseAnalysis>({{"runs", fitted_runs, fitted_run_format()},
                                         {&ResponseAnalysis::diagnostics, tests_format()}});
}

json::Format<analysis::Finding> finding_format() {
  using analysis::Finding;
  return json::object<Finding>(
      {{"weight", &Finding::weight, json::words<Finding::Weight>({"note", "care", "grave"})},
       {"sentence", &Finding::sentence},
       {"remedy", &Finding::remedy}});
}

json::Format<surfaces::SequentialSummary> sequential_format() {
  using surfaces::SequentialStep, surfaces::SequentialSummary;
  const auto step =
      json::object<SequentialStep>({{"model", &SequentialStep::model},
                                    {"aliased", &SequentialStep::aliased},
                                    {"problem", &SequentialStep::problem},
                                    {"df", &SequentialStep::df},
                                    {"sum_of_squares", &SequentialStep::sum_of_squares},
                                    {"f", &SequentialStep::f},
                                    {"p", &SequentialStep::p},
                                    {"lack_of_fit_p", &SequentialStep::lack_of_fit_p},
                                    {"sigma", &SequentialStep::sigma},
                                    {"r2", &SequentialStep::r2},
                                    {"adjusted_r2", &SequentialStep::adjusted_r2},
                                    {"predicted_r2", &SequentialStep::predicted_r2},
                                    {"press", &SequentialStep::press},
                                    {"aicc", &SequentialStep::aicc}});
  return json::object<SequentialSummary>({{"steps", &SequentialSummary::steps, step},
                                          {"suggested", &SequentialSummary::suggested},
                                          {"reason", &SequentialSummary::reason}});
}

json::Format<surfaces::Selection> selection_format() {
  using surfaces::NearModel, surfaces::Selection, surfaces::SelectionStep;
  const auto step = json::object<SelectionStep>({{"term", &SelectionStep::term},
                                                 {"entered", &SelectionStep::entered},
                                                 {"aicc", &SelectionStep::aicc},
                                                 {"p", &SelectionStep::p}});
  const auto near = json::object<NearModel>(
      {{"model", &NearModel::terms}, {"aicc", &NearModel::aicc}, {"weight", &NearModel::weight}});
  return json::object<Selection>({{"steps", &Selection::steps, step},
                                  {"near_best", &Selection::near_best, near},
                                  {"models_compared", &Selection::models_compared},
                                  {"exhaustive", &Selection::exhaustive},
                                  {"warning", &Selection::warning}});
}

json::Format<surfaces::Transform> transform_format() {
  return json::format<surfaces::Transform>(
      json::text(), [](const auto& transform) { return surfaces::transform_name(transform); });
}

json::Format<surfaces::BoxCox> box_cox_format() {
  using surfaces::BoxCox;
  return json::object<BoxCox>({{"lambda", &BoxCox::lambda},
                               {"interval", &BoxCox::interval, interval_format()},
                               {"suggestion", &BoxCox::suggestion, transform_format()}});
}

json::Format<surfaces::SplitPlot> split_plot_format() {
  using surfaces::PartTest, surfaces::SplitPlot;
  const auto test = json::object<PartTest>({{"source", &PartTest::source},
                                            {"df", &PartTest::df},
                                            {"df_error", &PartTest::df_error},
                                            {"f", &PartTest::f},
                                            {"p", &PartTest::p}});
  return json::object<SplitPlot>({{"whole_plots", &SplitPlot::whole_plots},
                                  {"whole_plot_variance", &SplitPlot::whole_plot_variance},
                                  {"whole_plot_std_error", &SplitPlot::whole_plot_std_error},
                                  {"run_variance", &SplitPlot::run_variance},
                                  {"run_std_error", &SplitPlot::run_std_error},
                                  {"tests", &SplitPlot::tests, test},
                                  {"note", &SplitPlot::note}});
}

json::Format<surfaces::SurfaceChoice> choice_format() {
  using surfaces::SurfaceCandidate, surfaces::SurfaceChoice;
  const auto candidate =
      json::object<SurfaceCandidate>({{"name", &SurfaceCandidate::name},
                                      {"loo_rms", &SurfaceCandidate::loo_rms},
                                      {"predicted_r2", &SurfaceCandidate::predicted_r2},
                                      {"lack_of_fit_p", &SurfaceCandidate::lack_of_fit_p},
                                      {"problem", &SurfaceCandidate::problem}});
  return json::object<SurfaceChoice>(
      {{"chosen", [](const SurfaceChoice& choice) { return choice.best().name; }},
       {"reason", &SurfaceChoice::reason},
       {"candidates", &SurfaceChoice::candidates, candidate}});
}

json::Format<surfaces::ParametricFit> parametric_format() {
  using surfaces::ParameterEstimate, surfaces::ParametricFit;
  const auto estimate = json::object<ParameterEstimate>(
      {{"name", &ParameterEstimate::name},
       {"meaning", &ParameterEstimate::meaning},
       {"level", &ParameterEstimate::level},
       {"estimate", &ParameterEstimate::estimate},
       {"std_error", &ParameterEstimate::std_error},
       {"interval", &ParameterEstimate::interval, interval_format()},
       {"at_bound", &ParameterEstimate::at_bound}});
  return json::object<ParametricFit>(
      {{"equation", [](const ParametricFit& fit) { return fit.model.equation; }},
       {"transform", &ParametricFit::transform, transform_format()},
       {"sigma", &ParametricFit::sigma},
       {"r2", &ParametricFit::r2},
       {"parameters", &ParametricFit::estimates, estimate},
       {"sizes", &ParametricFit::sizes, estimate},
       {"notes", &ParametricFit::notes}});
}

json::Format<surfaces::GaussianProcess> gaussian_process_format() {
  using Process = surfaces::GaussianProcess;
  return json::object<Process>(
      {{"correlations", [](const Process& process) { return process.parameters.correlations; }},
       {"process_sigma", &Process::process_sigma},
       {"sigma", &Process::sigma},
       {"nugget", [](const Process& process) { return process.parameters.nugget; }},
       {"predicted_r2", &Process::predicted_r2},
       {"loo_coverage", [](const Process& process) { return process.loo_coverage(); }},
       {"log_likelihood", &Process::log_likelihood}});
}

/// Parameters and statistics of the surface used instead of the polynomial.
json::Format<surfaces::Surface> other_format() {
  const auto parametric = parametric_format();
  const auto process = gaussian_process_format();
  return json::format<surfaces::Surface>(
      json::either({parametric.schema, process.schema}), [=](const surfaces::Surface& surface) {
        if (const auto* fit = dynamic_cast<const surfaces::ParametricFit*>(&surface))
          return parametric.write(*fit);
        return process.write(dynamic_cast<const surfaces::GaussianProcess&>(surface));
      });
}

/// Information on the surface beyond the polynomial.
json::Format<ResponseAnalysis> surface_format() {
  return json::object<ResponseAnalysis>(
      {{"kind", [](const ResponseAnalysis& response) { return doe::word_of(response.kind); }},
       {"other", &ResponseAnalysis::other, other_format()},
       {"choice", &ResponseAnalysis::choice, choice_format()}});
}

json::Format<surfaces::Feasibility> feasibility_format() {
  using surfaces::Feasibility;
  const auto term = json::object<surfaces::FeasibilityTerm>(
      {{"median", &surfaces::FeasibilityTerm::median},
       {"interval", &surfaces::FeasibilityTerm::interval, interval_format()}});
  return json::object<Feasibility>(
      {{"model", [](const Feasibility& fit) { return fit.model.term_names(); }},
       {"completed", &Feasibility::completed},
       {"infeasible", &Feasibility::infeasible},
       {"terms", &Feasibility::terms, json::by_name(&surfaces::FeasibilityTerm::term, term)},
       {"note", &Feasibility::note}});
}

json::Format<surfaces::Fit> summary_format() {
  using surfaces::Fit;
  return json::object<Fit>(
      {{"model", [](const Fit& fit) { return fit.model.term_names(); }},
       {"transform", &Fit::transform, transform_format()},
       {"n", &Fit::n},
       {"sigma", &Fit::sigma},
       {"df_residual", &Fit::df_residual},
       {"r2", &Fit::r2},
       {"adjusted_r2", &Fit::adjusted_r2},
       {"predicted_r2", &Fit::predicted_r2},
       {"press", &Fit::press},
       {"aicc", &Fit::aicc},
       {"adequate_precision", &Fit::adequate_precision},
       {"coefficients", &Fit::coefficients, coefficient_format()},
       {"natural_coefficients", &Fit::natural_coefficients, natural_coefficient_format()},
       {"anova", &Fit::anova, anova_row_format()},
       {"lack_of_fit", &Fit::lack_of_fit, lack_of_fit_format()},
       {"block_effects", &Fit::block_effects, coefficient_format()}});
}

/// For a response with a fitted polynomial.
json::Format<ResponseAnalysis> polynomial_format(const study::Study& study) {
  return json::object<ResponseAnalysis>(
      {{[](const ResponseAnalysis& response) -> const surfaces::Fit& { return *response.fit; },
        summary_format()},
       {"stationary_point",
        [](const ResponseAnalysis& response) {
          return response.fit->stationary_point ? &response : nullptr;
        },
        stationary_point_format(study.factors)},
       {"paths",
        [region = study.region](const ResponseAnalysis& response) {
          return paths_of(*response.fit, region);
        },
        paths_format(study.factors)},
       {"diagnostics", std::identity(), diagnostics_format()},
       {"sequential", &ResponseAnalysis::sequential, sequential_format()},
       {"selection", &ResponseAnalysis::selection, selection_format()},
       {"box_cox", &ResponseAnalysis::box_cox, box_cox_format()},
       {"split_plot", [](const ResponseAnalysis& response) { return response.fit->split_plot; },
        split_plot_format()},
       {"verdict",
        [](const ResponseAnalysis& response) { return analysis::trust(response).sentence; }},
       {"findings", [](const ResponseAnalysis& response) { return analysis::findings(response); },
        finding_format()}});
}

json::Format<ResponseAnalysis> response_format(const study::Study& study) {
  return json::object<ResponseAnalysis>(
      {{[](const ResponseAnalysis& response) { return response.fit ? &response : nullptr; },
        polynomial_format(study)},
       {"problem?", &ResponseAnalysis::problem},
       {"fallback", &ResponseAnalysis::fallback, fallback_format()},
       {"surface", std::identity(), surface_format()}});
}

}  // namespace

json::Format<analysis::Analysis> fit_format(const study::Study& study) {
  using analysis::Analysis;
  const auto name = [](const ResponseAnalysis& response) { return response.response.name; };
  const auto error = [](const Analysis& analysis) {
    return analysis.completed() > 0 ? "" : std::string("no run has completed");
  };
  return json::document<Analysis>(
      {{"study", [](const Analysis& analysis) { return analysis.directory->study.name; }},
       {"responses", &Analysis::responses, json::by_name(name, response_format(study))},
       {"findings", analysis::run_findings, finding_format()},
       {"feasibility", &Analysis::feasibility, feasibility_format()},
       {"error?", error}});
}

std::string fit_json(const analysis::Analysis& analysis) {
  return fit_format(analysis.directory->study).text(analysis);
}

}  // namespace doetune::reports
