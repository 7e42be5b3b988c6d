// Evaluation of the design for the study's model, as planned and as executed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "doe/evaluation/full_evaluation.h"

namespace doetune::analysis {

struct DesignQuality {
  doe::FullEvaluation planned;
  std::optional<doe::FullEvaluation> made;  ///< of the completed runs, if some are missing
  std::vector<int> runs;                    ///< run numbers behind `shown`
  bool has_whole_plots = false;

  /// The evaluation to plot: that of the completed runs, or of the plan before there are any.
  const doe::FullEvaluation& shown() const { return made ? *made : planned; }
};

DesignQuality design_quality(const Analysis& analysis);

}  // namespace doetune::analysis
