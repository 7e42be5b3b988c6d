// How good the design is for the study's model: as it was planned, and as far as it was run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "doe/evaluation/full_evaluation.h"

namespace doetune::analysis {

struct DesignQuality {
  doe::FullEvaluation planned;
  std::optional<doe::FullEvaluation> made;  ///< of the completed runs, where some are missing
  std::vector<int> runs;                    ///< run numbers behind `shown`
  bool has_whole_plots = false;

  /// What figures are drawn of: the completed runs, or the plan while none is.
  const doe::FullEvaluation& shown() const { return made ? *made : planned; }
};

DesignQuality design_quality(const Analysis& analysis);

}  // namespace doetune::analysis
