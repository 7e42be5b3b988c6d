#include "analysis/failed_runs.h"

#include <algorithm>

namespace doetune::analysis {

bool has_failed(const study::RunRecord& record) {
  const bool failed =
      record.status == study::RunStatus::kFailed || record.status == study::RunStatus::kTimedOut;
  return failed && !record.same_as && !record.in_set_up;
}

bool any_completed(const std::map<int, study::RunRecord>& final_records) {
  return std::any_of(final_records.begin(), final_records.end(), [](const auto& entry) {
    return entry.second.status == study::RunStatus::kCompleted;
  });
}

bool failures_count(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records) {
  const bool searches = std::any_of(
      plan.runs.begin(), plan.runs.end(),
      [](const study::PlannedRun& run) { return run.type == doe::PointType::kProposed; });
  return searches && any_completed(final_records);
}

}  // namespace doetune::analysis
