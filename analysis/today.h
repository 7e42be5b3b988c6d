// The baseline (the settings in use today) compared with the optimum.
#pragma once

#include <optional>
#include <string>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// Whether the optimum is the baseline: no change is predicted to be a gain.
bool is_at_today(const Analysis& analysis);

/// Whether a change of the baseline is predicted to be better, or the surfaces predict too poorly
/// to exclude it; true if there is no baseline.
bool can_gain(const Analysis& analysis);

/// Whether runs of the baseline were infeasible and none has completed.
bool baseline_cannot_run(const Analysis& analysis);

/// What is left out because factors have no baseline, or because it cannot run, as a sentence;
/// empty otherwise.
std::string left_out_without_baseline(const Analysis& analysis);

struct MeasuredToday {
  surfaces::Prediction mean;  ///< on the scale of the fit
  int runs = 0;
};

/// The mean of the plan's completed runs at the baseline, except confirmation and baseline runs of
/// a validation; empty without such runs, a baseline or a surface.
std::optional<MeasuredToday> measured_today(const Analysis& analysis,
                                            const ResponseAnalysis& response);

}  // namespace doetune::analysis
