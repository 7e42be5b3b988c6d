#include "study/directory/measured_costs.h"

namespace doetune::study {

MeasuredCosts measured_costs(const std::vector<RunRecord>& records) {
  MeasuredCosts costs;
  double runs_s = 0;
  double set_ups_s = 0;
  for (const RunRecord& record : records) {
    if (record.status == RunStatus::kCompleted && record.duration_s > 0) {
      runs_s += record.duration_s;
      ++costs.runs;
    }
    if (record.set_up_s) {
      set_ups_s += *record.set_up_s;
      ++costs.set_ups;
    }
  }
  if (costs.runs > 0) costs.run_s = runs_s / costs.runs;
  if (costs.set_ups > 0) costs.set_up_s = set_ups_s / costs.set_ups;
  return costs;
}

}  // namespace doetune::study
