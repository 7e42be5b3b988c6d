#include "study/learnt_runs.h"

#include <algorithm>

namespace doetune::study {

bool has_learnt_from(const Plan& plan, const PlannedRun& run) {
  const auto last = std::find_if(plan.runs.rbegin(), plan.runs.rend(), [](const PlannedRun& other) {
    return other.type == doe::PointType::kProposed;
  });
  return last != plan.runs.rend() && last->run > run.run;
}

bool tests_prediction(const Plan& plan, const PlannedRun& run) {
  return run.validates() && !has_learnt_from(plan, run);
}

}  // namespace doetune::study
