// How far a fit can be relied on, what speaks against it, and what to do about that.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

inline constexpr double kSignificant = 0.05;    ///< level of the tests
inline constexpr double kPoorPrediction = 0.5;  ///< predicted R2

/// Rules: predicted R2 below 0.5 is poor; below 0.8, or lack of fit with p < 0.05, needs care;
/// without residual freedom nothing can be said.
struct Trust {
  enum class Level { kGood, kCare, kPoor, kUnknown };
  Level level = Level::kUnknown;
  std::string sentence;  ///< "predicts new runs well (predicted R² 0.93); no sign of lack of fit."
  std::optional<double> predicted_r2 = {};   ///< of a polynomial that is judged by it
  std::optional<double> lack_of_fit_p = {};  ///< of one whose lack of fit is significant

  bool predicts_roughly() const;
};

std::string_view trust_name(Trust::Level level);
Trust trust(const surfaces::Fit& fit);

/// Of the surface that predicts the response: the fit, or what stands in for it.
Trust trust(const ResponseAnalysis& response);

/// One thing that speaks against a fit, in a sentence, and the remedy in another.
struct Finding {
  enum class Weight { kNote, kCare, kGrave };
  Weight weight = Weight::kNote;
  std::string sentence;
  std::string remedy;
  bool is_in_trust = false;  ///< the sentence of trust() says it too
};

/// What there is to say of a fit, gravest first. Thresholds: tests at 5 %; a predicted R2 more than
/// 0.2 below the adjusted one; adequate precision below 4; VIF above 10.
std::vector<Finding> findings(const ResponseAnalysis& response);

}  // namespace doetune::analysis
