// How good the design is for the study's model: as it was planned, and as far as it was run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doe/evaluation/full_evaluation.h"
#include "reports/analysis/analysis.h"
#include "reports/figures/figures.h"

namespace doetune::reports {

struct DesignQuality {
  doe::FullEvaluation planned;
  std::optional<doe::FullEvaluation> made;  ///< of the completed runs, where some are missing
  std::vector<int> runs;                    ///< run numbers behind `shown`
  bool has_whole_plots = false;

  /// What figures are drawn of: the completed runs, or the plan while none is.
  const doe::FullEvaluation& shown() const { return made ? *made : planned; }
};

DesignQuality design_quality(const Analysis& analysis);

/// The fraction of design space, the leverage of runs, the correlation of columns, and the power
/// of terms; what a singular design does not have is left out.
std::vector<Figure> design_figures(const Analysis& analysis, const DesignQuality& quality);

}  // namespace doetune::reports
