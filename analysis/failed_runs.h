// Runs that failed, as evidence of where runs complete.
#pragma once

#include <map>

#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::analysis {

/// Whether the program of a run was executed and failed, or ran into its time limit.
bool has_failed(const study::RunRecord& record);

/// Whether a run has completed, so that the program of the study works.
bool any_completed(const std::map<int, study::RunRecord>& final_records);

/// Whether runs that failed with all their retries count as infeasible: those of a search as soon
/// as a run has completed. A search comes back to where it expects much, so where one run failed,
/// its neighbours would follow. In a designed experiment they are left out.
bool failures_count(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records);

}  // namespace doetune::analysis
