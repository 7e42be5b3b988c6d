#include "analysis/fitted_runs.h"

#include <algorithm>

namespace doetune::analysis {

FittedRuns::FittedRuns(const Analysis& analysis) {
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    if (run.validates()) continue;
    const auto record = analysis.records.find(run.run);
    ++planned;
    if (record == analysis.records.end()) {
      ++missing;
    } else if (record->second.status == study::RunStatus::kEndedEarly) {
      ++ended_early;
    } else if (record->second.status != study::RunStatus::kCompleted) {
      ++incomplete;
    }
  }
}

bool any_fit(const Analysis& analysis) {
  return std::any_of(
      analysis.responses.begin(), analysis.responses.end(),
      [](const ResponseAnalysis& response) { return response.surface() != nullptr; });
}

bool has_goal(const Analysis& analysis) {
  return !analysis.goals.empty() ||
         std::any_of(
             analysis.responses.begin(), analysis.responses.end(),
             [](const ResponseAnalysis& response) { return response.response.goal.has_value(); });
}

}  // namespace doetune::analysis
