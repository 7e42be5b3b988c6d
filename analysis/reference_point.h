// The reference point of a report, and texts for settings.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// A reference point and its name: "the optimum", "the baseline", "the centre of the region".
struct Reference {
  std::vector<double> settings;  ///< natural units, one per factor
  std::string name;
};

/// Where factors are held while others vary: the optimum; without one the baseline; otherwise the
/// permitted settings nearest the centre (for a categorical factor its first level).
Reference reference(const Analysis& analysis);

/// "decode_rate = 5 Hz", "precision = bf16".
std::string setting_text(const doe::Factor& factor, double natural);

/// All settings except those of `except`, "a = 1, b = 2 Hz"; empty if none is left.
std::string settings_text(const std::vector<doe::Factor>& factors,
                          const std::vector<double>& settings, const std::vector<int>& except = {});

/// The indices of the numeric factors.
std::vector<int> numeric_factors(const std::vector<doe::Factor>& factors);

/// The goal of a response as the analysis used it.
const surfaces::Goal* goal_of(const Analysis& analysis, const std::string& response);

/// The prediction of a response in a candidate.
const surfaces::ResponsePrediction* prediction_of(const surfaces::Candidate& candidate,
                                                  const std::string& response);

/// The unit of a response of the study.
const std::string& unit_of(const Analysis& analysis, const std::string& response);

const std::vector<doe::Factor>& factors_of(const Analysis& analysis);

}  // namespace doetune::analysis
