#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "analysis/format.h"
#include "analysis/study_tests.h"
#include "analysis/trust.h"
#include "study/argument_template.h"

namespace doetune::analysis {
namespace {

using Weight = Finding::Weight;

constexpr double kPredictionGap = 0.2;
constexpr double kMinPrecision = 4;
constexpr double kEntangled = 10;
constexpr int kMinAddedRuns = 4;

/// The numbers of the runs, by row of the fit, that satisfy `is`.
template <typename Picks>
std::vector<int> picked(const ResponseAnalysis& response, const Picks& is) {
  std::vector<int> runs;
  for (std::size_t i = 0; i < response.diagnostics.runs.size(); ++i) {
    if (is(response.diagnostics.runs[i])) runs.push_back(response.runs[i]);
  }
  return runs;
}

/// Adds what a test with p < 0.05 found: a note unless it is significant at its level.
void add_tested(double p, double level, Finding finding, std::vector<Finding>& found) {
  if (p >= surfaces::kSignificant) return;
  if (p > level) {
    finding.weight = Weight::kNote;
    finding.is_in_trust = false;
    finding.sentence += among_tests(p, level);
  }
  found.push_back(std::move(finding));
}

std::string added_runs(int runs) {
  return fmt::format("`doetune augment --runs {}`", std::max(kMinAddedRuns, runs));
}

/// A larger model that the runs support and whose terms are significant in the sequential tests.
std::optional<surfaces::SequentialStep> richer_model(const ResponseAnalysis& response) {
  for (surfaces::SequentialStep& step : larger_steps(response)) {
    if (step.model == response.sequential->suggested) return std::move(step);
  }
  return std::nullopt;
}

/// The transform suggested by the Box-Cox profile, if the fit has none yet.
std::optional<std::string> better_transform(const ResponseAnalysis& response) {
  if (!response.box_cox || response.fit->transform != surfaces::Transform::kNone) {
    return std::nullopt;
  }
  if (response.box_cox->suggestion == surfaces::Transform::kNone) return std::nullopt;
  return study::shell_quoted(surfaces::transform_name(response.box_cox->suggestion));
}

/// Remedies for lack of fit, best first.
std::string remedy_of_lack(const ResponseAnalysis& response) {
  if (const auto step = richer_model(response)) {
    return fmt::format("`doetune fit --model {}` fits these runs better", step->model);
  }
  std::string remedy;
  if (const auto transform = better_transform(response)) {
    remedy = fmt::format("try `--transform {}` first; else ", *transform);
  }
  return remedy + added_runs(response.fit->model.column_count() / 2) +
         " adds runs for a larger model, and `--surface auto` compares other kinds of surfaces";
}

void assess_freedom(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const surfaces::Fit& fit = *response.fit;
  if (fit.df_residual == 0) {
    found.push_back({Weight::kGrave,
                     fmt::format("The model has as many terms as there are runs ({}), so no error "
                                 "can be estimated and no prediction has an interval",
                                 fit.n),
                     added_runs(kMinAddedRuns) + " adds runs to estimate the error, or fit fewer "
                                                 "terms (`doetune fit --model linear`)"});
    return;
  }
  const std::vector<int> alone =
      picked(response, [](const auto& run) { return run.leverage > 1 - 1e-10; });
  if (alone.empty()) return;
  found.push_back(
      {Weight::kCare,
       fmt::format("Some coefficients are determined only by {}, so predictions there cannot be "
                   "checked (PRESS is undefined)",
                   runs_text(alone)),
       added_runs(static_cast<int>(alone.size())) + " adds runs that support these coefficients"});
}

/// What predicts better than the polynomial, or else `remedy`.
std::string or_process(const ResponseAnalysis& response, const std::string& remedy) {
  if (!response.process_r2) return remedy;
  return fmt::format(
      "`--surface auto` fits a Gaussian process, which predicts them better (predicted R² {})",
      r2_text(*response.process_r2));
}

void assess_prediction(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const surfaces::Fit& fit = *response.fit;
  if (fit.lack_of_fit) {
    add_tested(fit.lack_of_fit->p, response.levels.surface,
               {Weight::kGrave,
                fmt::format("Lack of fit ({}): the error of the surface is larger than the scatter "
                            "of replicated runs, so its terms do not capture the shape",
                            p_words(fit.lack_of_fit->p)),
                remedy_of_lack(response), true},
               found);
  }
  const std::optional<double> idle = p_without_effect(fit, response.levels.surface);
  const bool poor = fit.predicted_r2 && *fit.predicted_r2 < kPoorPrediction;
  if (poor && idle && !response.process_r2) {  // there is nothing to predict: no news besides
    found.push_back({Weight::kCare,
                     fmt::format("No factor is shown to have an effect ({})", p_words(*idle)),
                     "widen the ranges of the factors, or replicate runs", true});
    return;
  }
  if (poor) {
    found.push_back(
        {Weight::kGrave,
         fmt::format("New runs are predicted poorly (predicted R² {})", r2_text(*fit.predicted_r2)),
         or_process(response,
                    "look for a factor that is not controlled, replicate runs, or fit fewer terms"),
         true});
  } else if (response.process_r2) {
    found.push_back({Weight::kCare,
                     fmt::format("New runs are predicted only roughly (predicted R² {})",
                                 r2_text(*fit.predicted_r2)),
                     or_process(response, "")});
  } else if (fit.predicted_r2 && *fit.adjusted_r2 - *fit.predicted_r2 > kPredictionGap) {
    found.push_back({Weight::kNote,
                     fmt::format("Predicted R² ({}) is more than 0.2 below adjusted R² ({}): the "
                                 "model overfits single runs",
                                 r2_text(*fit.predicted_r2), r2_text(*fit.adjusted_r2)),
                     "look at the influential runs, or fit fewer terms"});
  }
  if (fit.adequate_precision && *fit.adequate_precision < kMinPrecision) {
    found.push_back({Weight::kGrave,
                     fmt::format("The response changes little compared with its noise (adequate "
                                 "precision {}; at least 4 is desirable)",
                                 short_number(*fit.adequate_precision)),
                     "widen the ranges of the factors, or replicate runs"});
  }
}

void assess_replicates(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const surfaces::Fit& fit = *response.fit;
  if (fit.lack_of_fit || fit.lack_of_fit_problem != "no replicated runs") return;
  found.push_back({Weight::kNote, "No run is replicated, so lack of fit cannot be tested",
                   "replicate the best configuration or the centre; confirmation runs count"});
}

void assess_runs(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const std::vector<int> outliers = picked(response, [](const auto& run) { return run.outlier; });
  if (!outliers.empty()) {
    add_tested(
        p_of_outliers(response).value_or(0), response.levels.assumptions,
        {Weight::kCare,
         fmt::format("{} {} farther from the surface than chance explains",
                     capitalised(runs_text(outliers)), outliers.size() == 1 ? "lies" : "lie"),
         fmt::format("look at the log and conditions of the attempt, and measure again "
                     "(`doetune run --rerun {}`); if both values agree, the surface is too "
                     "simple there",
                     run_list(outliers))},
        found);
  }
  const std::vector<int> influential =
      picked(response, [](const auto& run) { return run.influential && !run.outlier; });
  if (!influential.empty()) {
    found.push_back(
        {Weight::kNote,
         fmt::format("{} {} the surface strongly (Cook's distance)", runs_text(influential),
                     influential.size() == 1 ? "influences" : "influence"),
         fmt::format("measure {} again before relying on it (`doetune run --rerun {}`)",
                     influential.size() == 1 ? "it" : "each", run_list(influential))});
    found.back().sentence = capitalised(found.back().sentence);
  }
}

/// Advice against a variance that changes with the mean; the response may already be transformed.
std::string transform_advice(const ResponseAnalysis& response) {
  const surfaces::Transform& transform = response.fit->transform;
  if (transform == surfaces::Transform::kNone) {
    return fmt::format("fit a transformed response: `--transform {}`",
                       better_transform(response).value_or("log"));
  }
  return transform.kind == surfaces::Transform::Kind::kPower
             ? "`fit: {variance: modelled}` in the study file lets the variance depend on the "
               "settings"
             : "fit another transform: `--transform box-cox` finds its power";
}

/// Runs to which a robust loss gives less than half weight.
void assess_counts(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const Eigen::VectorXd& counts = response.fit->counts;
  std::vector<int> runs;
  for (Eigen::Index i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0.5) runs.push_back(response.runs[static_cast<std::size_t>(i)]);
  }
  if (runs.empty()) return;
  found.push_back({Weight::kCare,
                   fmt::format("The robust fit gives {} less than half weight", runs_text(runs)),
                   "look at the log and conditions of these attempts"});
}

void assess_assumptions(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const FitDiagnostics& diagnostics = response.diagnostics;
  if (diagnostics.drift) {
    add_tested(
        diagnostics.drift->p, response.levels.assumptions,
        {Weight::kCare,
         fmt::format("Residuals {} in run order ({}): the system drifted during the runs",
                     diagnostics.drift->slope > 0 ? "rise" : "fall", p_words(diagnostics.drift->p)),
         "check clocks, temperature and other load; plan with blocks"},
        found);
  }
  if (diagnostics.spread && diagnostics.spread->p < surfaces::kSignificant) {
    add_tested(
        diagnostics.spread->p, response.levels.assumptions,
        {Weight::kCare,
         fmt::format("The scatter {}{} with the response ({}), so some intervals are too wide and "
                     "others too narrow",
                     diagnostics.spread->grows ? "grows" : "falls",
                     scale_words(response.fit->transform), p_words(diagnostics.spread->p)),
         transform_advice(response)},
        found);
  } else if (const auto transform = better_transform(response)) {
    found.push_back({Weight::kNote,
                     fmt::format("The Box-Cox profile suggests a transform (power {:.2g}, 95 % "
                                 "{:.2g} to {:.2g}; 1 is none)",
                                 response.box_cox->lambda, response.box_cox->interval.low,
                                 response.box_cox->interval.high),
                     fmt::format("compare the fit with `--transform {}`", *transform)});
  }
  if (response.constancy && !response.fit->variance) {
    add_tested(
        response.constancy->p, response.levels.assumptions,
        {Weight::kCare,
         fmt::format("The variance of replicated runs depends on the settings ({})",
                     p_words(response.constancy->p)),
         "`fit: {variance: modelled}` in the study file lets the variance depend on the settings"},
        found);
  }
  if (response.repeats_used == false) {
    found.push_back({Weight::kNote,
                     "The variance of repeats within runs depends on the settings differently from "
                     "that between runs, so it is not used to model the variance",
                     "replicate runs where repeats scatter much and where they scatter little"});
  }
  if (diagnostics.normality && diagnostics.normality->p < surfaces::kSignificant) {
    found.push_back({Weight::kNote,
                     fmt::format("Residuals are not normally distributed ({}): probabilities and "
                                 "intervals of single runs are approximate",
                                 p_words(diagnostics.normality->p)),
                     "look for outliers, or transform the response"});
  }
}

void assess_terms(const ResponseAnalysis& response, std::vector<Finding>& found) {
  std::vector<std::string> entangled;
  for (const surfaces::Coefficient& coefficient : response.fit->coefficients) {
    if (coefficient.vif && *coefficient.vif > kEntangled) entangled.push_back(coefficient.term);
  }
  if (entangled.empty()) return;
  found.push_back(
      {Weight::kCare,
       fmt::format("The runs hardly separate {} from other terms (VIF above 10)",
                   fmt::join(entangled, ", ")),
       added_runs(static_cast<int>(entangled.size())) + " adds runs that separate them"});
}

/// Suggests a larger model, unless lack of fit already indicates it.
void assess_model(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const auto& lack = response.fit->lack_of_fit;
  const std::optional<surfaces::SequentialStep> step = richer_model(response);
  if ((lack && lack->p <= response.levels.surface) || !step || !step->p) return;
  add_tested(
      *step->p, response.levels.assumptions,
      {Weight::kCare,
       fmt::format("The terms that the {} model adds are significant ({})", step->model,
                   p_words(*step->p)),
       fmt::format("`doetune fit --model {}`, or write it into the study file", step->model)},
      found);
}

void add_notes_of_parametric_model(const ResponseAnalysis& response, std::vector<Finding>& found) {
  const auto* parametric = dynamic_cast<const surfaces::ParametricFit*>(response.other.get());
  if (parametric == nullptr) return;
  if (parametric->r2 < kPoorPrediction) {
    found.push_back(
        {Weight::kGrave,
         fmt::format("The parametric model {} does not describe these runs (R² {:.2f}{})",
                     parametric->model.name, parametric->r2, scale_words(parametric->transform)),
         "`--surface auto` compares other kinds of surfaces"});
  }
  for (const std::string& note : parametric->notes) {
    found.push_back({Weight::kNote, note, "the runs give no further information about it"});
  }
}

/// "`doetune augment --runs 5`" with the directory after the name of the command.
std::string about_directory(const std::string& remedy, const std::string& directory) {
  static const std::regex command("(doetune [a-z]+) ");
  std::string text, rest = remedy;
  for (std::smatch match; std::regex_search(rest, match, command);) {
    text += match.prefix().str() + match[1].str() + ' ' + directory + ' ';
    rest = match.suffix().str();
  }
  return text + rest;
}

std::vector<Finding> findings_of_response(const ResponseAnalysis& response) {
  std::vector<Finding> found;
  if (response.other) {
    add_notes_of_parametric_model(response, found);
    return found;
  }
  if (!response.fit) return found;
  assess_freedom(response, found);
  assess_prediction(response, found);
  assess_replicates(response, found);
  assess_runs(response, found);
  assess_counts(response, found);
  assess_assumptions(response, found);
  assess_terms(response, found);
  assess_model(response, found);
  for (const std::string& note : response.fit->notes) {
    found.push_back({Weight::kGrave, capitalised(note), "check what the runs measure"});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.weight > b.weight; });
  return found;
}

}  // namespace

std::vector<Finding> findings(const ResponseAnalysis& response, const std::string& directory) {
  std::vector<Finding> found = findings_of_response(response);
  if (directory.empty()) return found;
  for (Finding& finding : found) {
    finding.remedy = about_directory(finding.remedy, study::shell_quoted(directory));
  }
  return found;
}

}  // namespace doetune::analysis
