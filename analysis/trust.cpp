#include "analysis/trust.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/format.h"
#include "analysis/study_tests.h"
#include "surfaces/models/gaussian_process.h"

namespace doetune::analysis {
namespace {

std::string lack_of_fit_words(const surfaces::Fit& fit, double significance) {
  if (!fit.lack_of_fit) {
    return fit.lack_of_fit_problem.empty()
               ? "lack of fit cannot be tested"
               : fmt::format("lack of fit cannot be tested ({})", fit.lack_of_fit_problem);
  }
  const double p = fit.lack_of_fit->p;
  const std::string value = p_words(p);
  if (p <= significance) {
    return fmt::format(
        "lack of fit is significant ({}): the error of the surface is larger than the scatter of "
        "replicated runs",
        value);
  }
  return p < surfaces::kSignificant
             ? fmt::format("lack of fit is not significant among the tests of the study ({})",
                           value)
             : fmt::format("no sign of lack of fit ({})", value);
}

std::string prediction_words(const surfaces::Fit& fit, double significance) {
  const double r2 = *fit.predicted_r2;
  const char* words = r2 < kPoorPrediction   ? "predicts new runs poorly"
                      : r2 < kGoodPrediction ? "predicts new runs only roughly"
                                             : "predicts new runs well";
  std::string text = fmt::format("{} (predicted R² {})", words, r2_text(r2));
  const std::optional<double> idle = p_without_effect(fit, significance);
  if (r2 >= kPoorPrediction || !idle) return text;
  return text + fmt::format(": no factor is shown to have an effect ({})", p_words(*idle));
}

}  // namespace

bool Trust::predicts_roughly() const {
  return predicted_r2 && *predicted_r2 < kGoodPrediction && *predicted_r2 >= kPoorPrediction;
}

std::string_view trust_name(Trust::Level level) {
  switch (level) {
    case Trust::Level::kGood:
      return "reliable";
    case Trust::Level::kCare:
      return "use with caution";
    case Trust::Level::kPoor:
      return "not reliable";
    case Trust::Level::kUnknown:
      return "not assessed";
    case Trust::Level::kContradicted:
      return "contradicted by the confirmation runs";
  }
  return {};
}

namespace {

Trust::Level level_of(double predicted_r2) {
  if (predicted_r2 < kPoorPrediction) return Trust::Level::kPoor;
  return predicted_r2 < kGoodPrediction ? Trust::Level::kCare : Trust::Level::kGood;
}

Trust trust_in_process(const surfaces::GaussianProcess& process) {
  if (!process.predicted_r2) return {Trust::Level::kUnknown, "all responses are equal."};
  return {level_of(*process.predicted_r2),
          fmt::format("a Gaussian process that predicts each run from all others with R² {}; {} "
                      "of the runs lie in their 95 % interval.",
                      r2_text(*process.predicted_r2), percent(process.loo_coverage()))};
}

Trust trust_in_parametric_model(const surfaces::ParametricFit& parametric) {
  return {level_of(parametric.r2),
          fmt::format("the parametric model {} explains the runs with R² {}{}: {}.",
                      parametric.model.name, r2_text(parametric.r2),
                      scale_words(parametric.transform), parametric.model.equation)};
}

}  // namespace

Trust trust(const ResponseAnalysis& response) {
  const auto* process = dynamic_cast<const surfaces::GaussianProcess*>(response.other.get());
  if (process != nullptr) return trust_in_process(*process);
  const auto* parametric = dynamic_cast<const surfaces::ParametricFit*>(response.other.get());
  return parametric != nullptr ? trust_in_parametric_model(*parametric)
                               : trust(*response.fit, response.levels.surface);
}

Trust trust(const surfaces::Fit& fit, double significance) {
  if (!fit.notes.empty()) return {Trust::Level::kUnknown, fit.notes.front() + "."};
  if (fit.split_plot) {
    return {Trust::Level::kUnknown,
            fmt::format("the factors explain {} of the variance; with whole plots, predictions of "
                        "new runs are not tested.",
                        in_words(percent(fit.r2)))};
  }
  if (fit.loss != surfaces::Loss::kSquares) {
    return {Trust::Level::kUnknown,
            fmt::format("the surface explains {} of the variance; with a robust loss, predictions "
                        "of new runs are not tested.",
                        in_words(percent(fit.r2)))};
  }
  if (!fit.predicted_r2) {
    return {
        Trust::Level::kUnknown,
        fit.df_residual == 0
            ? "the model has as many terms as there are runs, so it cannot be validated."
            : "a run alone determines the fit at its point, so predictions cannot be validated."};
  }
  const double r2 = *fit.predicted_r2;
  const bool lacking = fit.lack_of_fit && fit.lack_of_fit->p <= significance;
  Trust result;
  result.level = level_of(r2);
  if (lacking && result.level == Trust::Level::kGood) result.level = Trust::Level::kCare;
  result.sentence = fmt::format("{}; {}.", prediction_words(fit, significance),
                                lack_of_fit_words(fit, significance));
  result.predicted_r2 = r2;
  if (lacking) result.lack_of_fit_p = fit.lack_of_fit->p;
  return result;
}

}  // namespace doetune::analysis
