// The point at which a report looks at the surfaces, and how it speaks of settings.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// Settings, and what they are: "the optimum", "the baseline", "the centre of the region".
struct Reference {
  std::vector<double> settings;  ///< natural units, one a factor
  std::string name;
};

/// Where factors are held when others vary: the optimum; without one the baseline, without that
/// the usable settings nearest the centre (of a categorical factor its first level).
Reference reference(const Analysis& analysis);

/// "decode_rate = 5 Hz", "precision = bf16".
std::string setting_text(const doe::Factor& factor, double natural);

/// All settings but those of the factors listed, "a = 1, b = 2 Hz"; empty where none is left.
std::string settings_text(const std::vector<doe::Factor>& factors,
                          const std::vector<double>& settings, const std::vector<int>& except = {});

/// Numeric factors by index.
std::vector<int> numeric_factors(const std::vector<doe::Factor>& factors);

/// The goal of a response as the analysis used it.
const surfaces::Goal* goal_of(const Analysis& analysis, const std::string& response);

/// The predicted of a response in a candidate.
const surfaces::ResponsePrediction* prediction_of(const surfaces::Candidate& candidate,
                                                  const std::string& response);

/// Of a response of the study.
const std::string& unit_of(const Analysis& analysis, const std::string& response);

const std::vector<doe::Factor>& factors_of(const Analysis& analysis);

}  // namespace doetune::analysis
