// fit.json, optimum.json and report.json.
#include "cli/documents.h"

namespace doetune::cli {
namespace {

Shape interval() { return maybe(list(number())); }
Shape settings() { return map(either({number(), text()})); }
Shape p_value() { return maybe(number()); }

Shape coefficient() {
  return object({{"term", text()},
                 {"estimate", number()},
                 {"std_error", maybe(number())},
                 {"df", maybe(number())},
                 {"t", maybe(number())},
                 {"p", p_value()},
                 {"vif", maybe(number())}});
}

Shape anova_row() {
  return object({{"source", text()},
                 {"df", integer()},
                 {"sum_of_squares", number()},
                 {"mean_square", maybe(number())},
                 {"f", maybe(number())},
                 {"p", p_value()}});
}

Shape stationary_point() {
  return object({{"settings", settings()},
                 {"coded", list(number())},
                 {"value", number()},
                 {"kind", words({"maximum", "minimum", "saddle", "ridge"})},
                 {"eigenvalues", list(number())},
                 {"eigenvectors", list(list(number()))},
                 {"inside_region", flag()},
                 {"eigenvalue_intervals?", list(interval())},
                 {"probability?",
                  object({{"maximum", number()}, {"minimum", number()}, {"saddle", number()}})}});
}

Shape paths() {
  const Shape path = list(object({{"distance", number()},
                                  {"settings", settings()},
                                  {"mean", number()},
                                  {"confidence_interval", interval()},
                                  {"inside_region", flag()}}));
  return object({{"ridge_of_highest", path},
                 {"ridge_of_lowest", path},
                 {"steepest_ascent", path},
                 {"steepest_descent", path},
                 {"cone_share", maybe(number())}});
}

Shape diagnostics() {
  const Shape run = object({{"run", integer()},
                            {"fitted", number()},
                            {"residual", number()},
                            {"leverage", number()},
                            {"studentised", maybe(number())},
                            {"deleted", maybe(number())},
                            {"cooks_distance", maybe(number())},
                            {"dffits", maybe(number())},
                            {"outlier", flag()},
                            {"influential", flag()},
                            {"high_leverage", flag()}});
  const Shape drift =
      object({{"slope", number()}, {"std_error", number()}, {"t", number()}, {"p", number()}});
  const Shape test = object({{"statistic", number()}, {"p", number()}});
  return object({{"runs", list(run)},
                 {"drift", maybe(drift)},
                 {"normality", maybe(test)},
                 {"spread", maybe(test)}});
}

Shape findings() {
  return list(object(
      {{"weight", words({"note", "care", "grave"})}, {"sentence", text()}, {"remedy", text()}}));
}

Shape sequential() {
  const Shape step = object({{"model", text()},
                             {"aliased", list(text())},
                             {"problem", text()},
                             {"df", integer()},
                             {"sum_of_squares", maybe(number())},
                             {"f", maybe(number())},
                             {"p", p_value()},
                             {"lack_of_fit_p", p_value()},
                             {"sigma", maybe(number())},
                             {"r2", maybe(number())},
                             {"adjusted_r2", maybe(number())},
                             {"predicted_r2", maybe(number())},
                             {"press", maybe(number())},
                             {"aicc", maybe(number())}});
  return object({{"steps", list(step)}, {"suggested", anything()}, {"reason", text()}});
}

Shape selection() {
  const Shape step =
      object({{"term", text()}, {"entered", flag()}, {"aicc", number()}, {"p", p_value()}});
  const Shape near = object({{"model", list(text())}, {"aicc", number()}, {"weight", number()}});
  return object({{"steps", list(step)},
                 {"near_best", list(near)},
                 {"models_compared", integer()},
                 {"exhaustive", flag()},
                 {"warning", text()}});
}

Shape split_plot() {
  const Shape test = object({{"source", text()},
                             {"df", integer()},
                             {"df_error", number()},
                             {"f", number()},
                             {"p", p_value()}});
  return object({{"whole_plots", integer()},
                 {"whole_plot_variance", number()},
                 {"whole_plot_std_error", number()},
                 {"run_variance", number()},
                 {"run_std_error", number()},
                 {"tests", list(test)},
                 {"note", text()}});
}

/// The kind of surface that predicts, and what it says of itself where it is no polynomial.
Shape surface() {
  const Shape candidate = object({{"name", text()},
                                  {"loo_rms", maybe(number())},
                                  {"predicted_r2", maybe(number())},
                                  {"lack_of_fit_p", p_value()},
                                  {"problem", text()}});
  const Shape choice =
      object({{"chosen", text()}, {"reason", text()}, {"candidates", list(candidate)}});
  return object({{"kind", text()}, {"other", maybe(map(anything()))}, {"choice", maybe(choice)}});
}

/// What a response has whose polynomial could be fitted; all of it or, with a `problem`, nothing.
ShapeKeys polynomial() {
  const Shape natural =
      object({{"term", text()}, {"estimate", number()}, {"std_error", maybe(number())}});
  const Shape lack_of_fit =
      object({{"df", integer()}, {"df_pure_error", integer()}, {"f", number()}, {"p", number()}});
  const Shape box_cox =
      object({{"lambda", number()}, {"interval", interval()}, {"suggestion", text()}});
  return {{"model?", list(text())},
          {"transform?", text()},
          {"n?", integer()},
          {"sigma?", maybe(number())},
          {"df_residual?", integer()},
          {"r2?", number()},
          {"adjusted_r2?", maybe(number())},
          {"predicted_r2?", maybe(number())},
          {"press?", maybe(number())},
          {"aicc?", maybe(number())},
          {"adequate_precision?", maybe(number())},
          {"coefficients?", list(coefficient())},
          {"natural_coefficients?", list(natural)},
          {"anova?", list(anova_row())},
          {"lack_of_fit?", maybe(lack_of_fit)},
          {"block_effects?", list(coefficient())},
          {"stationary_point?", maybe(stationary_point())},
          {"paths?", maybe(paths())},
          {"diagnostics?", diagnostics()},
          {"sequential?", maybe(sequential())},
          {"selection?", maybe(selection())},
          {"box_cox?", maybe(box_cox)},
          {"split_plot?", maybe(split_plot())},
          {"verdict?", text()},
          {"findings?", findings()}};
}

Shape predicted() {
  return object({{"mean", number()},
                 {"confidence_interval", interval()},
                 {"prediction_interval", interval()},
                 {"tolerance_interval", interval()},
                 {"simultaneous", object({{"confidence_interval", interval()},
                                          {"prediction_interval", interval()},
                                          {"tolerance_interval", interval()}})},
                 {"goal_met", flag()},
                 {"goal_met_probability", maybe(number())}});
}

Shape candidate() {
  return object({{"settings", settings()},
                 {"desirability", number()},
                 {"responses", map(predicted())},
                 {"feasibility", maybe(number())},
                 {"all_goals_met_probability", maybe(number())}});
}

Shape goal() {
  return object({{"goal", text()},
                 {"low", maybe(number())},
                 {"high", maybe(number())},
                 {"weight", number()},
                 {"importance", number()},
                 {"target?", number()}});
}

Shape gain() {
  return object({{"difference", number()},
                 {"interval", interval()},
                 {"ratio", maybe(number())},
                 {"ratio_interval", interval()}});
}

/// Of the confirmation runs; null where none are planned at the optimum.
Shape confirmation() {
  const Shape measured =
      object({{"runs", integer()}, {"mean", maybe(number())}, {"confidence_interval", interval()}});
  const Shape response =
      joined(measured, object({{"expected_interval", interval()},
                               {"simultaneous_expected_interval", interval()},
                               {"agrees", maybe(flag())},
                               {"limit_held", maybe(words({"yes", "open", "no"}))},
                               {"baseline", maybe(measured)},
                               {"gain", maybe(gain())}}));
  return maybe(object({{"judgement", words({"open", "confirmed", "not confirmed", "no gain"})},
                       {"runs", list(integer())},
                       {"baseline_runs", list(integer())},
                       {"completed", integer()},
                       {"missing", integer()},
                       {"failed", integer()},
                       {"responses", map(response)}}));
}

Shape uncertainty() {
  const Shape place =
      either({object({{"shares", map(number())}}), object({{"interval_90", interval()}})});
  return object({{"draws", integer()},
                 {"exact", flag()},
                 {"factors", map(place)},
                 {"best_shares", anything()},
                 {"expected_desirability_loss", number()},
                 {"expected_response_loss", maybe(number())}});
}

Shape robustness() {
  const Shape response = object(
      {{"range", interval()}, {"worst", maybe(number())}, {"transmitted_deviation", number()}});
  return object({{"responses", map(response)},
                 {"limits_met_share", number()},
                 {"least_all_goals_met_probability", maybe(number())}});
}

Shape found_optimum() {
  const Shape relaxation = object(
      {{"others_can_be_met", flag()}, {"reachable", maybe(number())}, {"settings", settings()}});
  return joined(
      joined(versioned({{"study", text()}, {"feasible", flag()}}), candidate()),
      object(
          {{"alternatives", list(candidate())},
           {"baseline", maybe(candidate())},
           {"confirmation?", confirmation()},
           {"goals", map(goal())},
           {"at_bound", list(text())},
           {"global", flag()},
           {"most_to_gain", maybe(number())},
           {"gains", map(gain())},
           {"uncertainty", maybe(uncertainty())},
           {"equivalents", list(joined(candidate(), object({{"against_best", map(gain())}})))},
           {"robustness", robustness()},
           {"pareto", list(joined(candidate(), object({{"non_dominated_probability", number()}})))},
           {"relaxations", map(relaxation)}}));
}

}  // namespace

Shape fit_document() {
  Shape response =
      joined(object(polynomial()), object({{"problem?", text()}, {"surface", surface()}}));
  const Shape feasibility = object({{"model", list(text())},
                                    {"completed", integer()},
                                    {"infeasible", integer()},
                                    {"coefficients", list(coefficient())},
                                    {"note", text()}});
  return versioned({{"study", text()},
                    {"responses", map(response)},
                    {"findings", findings()},
                    {"feasibility", maybe(feasibility)}});
}

Shape optimum_document() {
  const Shape none = versioned({{"study", text()}, {"feasible", flag()}, {"problem", text()}});
  return either({found_optimum(), none});
}

Shape confirm_document() {
  const Shape judged = versioned({{"directory", text()},
                                  {"status", text()},
                                  {"headline", text()},
                                  {"caveats", list(text())},
                                  {"runs_added", integer()},
                                  {"settings", maybe(settings())},
                                  {"confirmation", confirmation()}});
  return either({judged, dry_run_document()});
}

Shape report_document() {
  const Shape run = object({{"run", integer()},
                            {"point_type", text()},
                            {"block", integer()},
                            {"replicate", integer()},
                            {"settings", settings()},
                            {"status", maybe(text())},
                            {"responses?", map(number())},
                            {"host?", text()},
                            {"gpu?", text()},
                            {"start?", text()},
                            {"flags?", list(text())},
                            {"reason?", text()}});
  const Shape design = object({{"type", text()},
                               {"seed", integer()},
                               {"model", list(text())},
                               {"plan", text()},
                               {"notes", list(text())},
                               {"evaluation", evaluation_basics()}});
  const Shape figure = object({{"file", text()}, {"title", text()}, {"caption", text()}});
  return versioned({{"doetune", text()},
                    {"study", text()},
                    {"status", text()},
                    {"headline", text()},
                    {"caveats", list(text())},
                    {"next", object({{"command", text()}, {"reason", text()}})},
                    {"optimum", optimum_document()},
                    {"fit", fit_document()},
                    {"design", design},
                    {"runs", list(run)},
                    {"warnings", list(text())},
                    {"figures", list(figure)}});
}

}  // namespace doetune::cli
