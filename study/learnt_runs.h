// Runs that a search has learnt from.
#pragma once

#include "study/plan.h"

namespace doetune::study {

/// Whether a search has proposed runs after this one, knowing its outcome. A run that validates is
/// then a measurement like others, and no longer validates what is recommended.
bool has_learnt_from(const Plan& plan, const PlannedRun& run);

/// Whether the run tests a prediction: it validates, and no search has learnt from it.
bool tests_prediction(const Plan& plan, const PlannedRun& run);

}  // namespace doetune::study
