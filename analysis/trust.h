// Assesses the reliability of a fit: findings and their remedies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

inline constexpr double kPoorPrediction = 0.5;  ///< predicted R2
inline constexpr double kGoodPrediction = 0.8;  ///< predicted R2

/// Rules: predicted R2 below 0.5 is poor; below 0.8, or significant lack of fit, needs care;
/// without residual degrees of freedom it is unknown. Contradicted: see trust_after().
struct Trust {
  enum class Level { kGood, kCare, kPoor, kUnknown, kContradicted };
  Level level = Level::kUnknown;
  std::string sentence;  ///< "predicts new runs well (predicted R² 0.93); no sign of lack of fit."
  std::optional<double> predicted_r2 = {};   ///< of a polynomial assessed by it
  std::optional<double> lack_of_fit_p = {};  ///< if lack of fit is significant

  bool predicts_roughly() const;
};

std::string_view trust_name(Trust::Level level);

/// `significance` is the level of the tests.
Trust trust(const surfaces::Fit& fit, double significance = surfaces::kSignificant);

/// Of the surface that predicts the response: the fit, or the surface used instead.
Trust trust(const ResponseAnalysis& response);

/// A problem of a fit in one sentence, and its remedy in another. A note calls for no action.
struct Finding {
  enum class Weight { kNote, kCare, kGrave };
  Weight weight = Weight::kNote;
  std::string sentence;
  std::string remedy;
  bool is_in_trust = false;  ///< already stated by the sentence of trust()
};

/// All findings about a fit, most serious first. Worth acting on are tests that are significant
/// among those of the study (ResponseAnalysis::levels), predictions that are poor (or
/// adequate precision below 4) although the factors have an effect, and what the runs do not
/// determine (VIF above 10). Notes are tests that only their own p < 0.05 makes significant, Cook's
/// distance, and a predicted R2 more than 0.2 below the adjusted one.
/// Commands in the remedies name `directory`, that of the study, unless it is empty.
std::vector<Finding> findings(const ResponseAnalysis& response, const std::string& directory = {});

}  // namespace doetune::analysis
