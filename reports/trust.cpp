#include "reports/trust.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr double kSignificant = 0.05;
constexpr double kGoodPrediction = 0.8;
constexpr double kPoorPrediction = 0.5;

std::string lack_of_fit_words(const surfaces::Fit& fit) {
  if (!fit.lack_of_fit) {
    return fit.lack_of_fit_problem.empty()
               ? "lack of fit cannot be tested"
               : fmt::format("lack of fit cannot be tested ({})", fit.lack_of_fit_problem);
  }
  const double p = fit.lack_of_fit->p;
  const std::string value = p < 0.0001 ? "p < 0.0001" : "p = " + p_text(p);
  return p < kSignificant ? fmt::format(
                                "lack of fit is significant ({}): the surface misses more "
                                "than replicated runs scatter",
                                value)
                          : fmt::format("no sign of lack of fit ({})", value);
}

}  // namespace

std::string_view trust_name(Trust::Level level) {
  switch (level) {
    case Trust::Level::kGood:
      return "reliable";
    case Trust::Level::kCare:
      return "take care";
    case Trust::Level::kPoor:
      return "do not rely on it";
    case Trust::Level::kUnknown:
      return "cannot be judged";
  }
  return {};
}

Trust trust(const surfaces::Fit& fit) {
  if (fit.split_plot) {
    return {Trust::Level::kUnknown,
            fmt::format("the factors explain {} of the variance; with whole plots, how well new "
                        "runs are predicted is not tested.",
                        percent(fit.r2))};
  }
  if (fit.loss != surfaces::Loss::kSquares) {
    return {Trust::Level::kUnknown,
            fmt::format("the surface explains {} of the variance; under a robust loss, how well "
                        "new runs are predicted is not tested.",
                        percent(fit.r2))};
  }
  if (!fit.predicted_r2) {
    return {
        Trust::Level::kUnknown,
        fit.df_residual == 0
            ? "the model has as many terms as there are runs, so nothing is left to judge it by."
            : "a run determines the fit at its own point alone, so predictions cannot be judged."};
  }
  const double r2 = *fit.predicted_r2;
  const bool lacking = fit.lack_of_fit && fit.lack_of_fit->p < kSignificant;
  Trust result;
  result.level = r2 < kPoorPrediction              ? Trust::Level::kPoor
                 : r2 < kGoodPrediction || lacking ? Trust::Level::kCare
                                                   : Trust::Level::kGood;
  const char* opening = r2 < kPoorPrediction   ? "predicts new runs poorly"
                        : r2 < kGoodPrediction ? "predicts new runs roughly"
                                               : "predicts new runs well";
  result.sentence =
      fmt::format("{} (predicted R² {:.2f}); {}.", opening, r2, lack_of_fit_words(fit));
  return result;
}

}  // namespace doetune::reports
