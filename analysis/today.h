// What is known of today's settings.
#pragma once

#include <optional>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// The best settings are those of today: no change is predicted to gain anything.
bool is_at_today(const Analysis& analysis);

/// A change of today's settings is predicted to be better, or the surfaces predict too poorly to
/// rule one out; so without any settings of today.
bool can_gain(const Analysis& analysis);

struct MeasuredToday {
  surfaces::Prediction mean;  ///< on the scale on which the response is fitted
  int runs = 0;
};

/// Of the plan's completed runs at today's settings, those that judge an optimum left out; empty
/// without any, and without a fit.
std::optional<MeasuredToday> measured_today(const Analysis& analysis,
                                            const ResponseAnalysis& response);

}  // namespace doetune::analysis
