// Runs that failed, as evidence of where runs complete.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::analysis {

/// Whether runs of the plan were proposed by a search.
bool is_search(const study::Plan& plan);

/// Whether a run has completed, so that the program of the study works.
bool any_completed(const std::map<int, study::RunRecord>& final_records);

/// The runs of a search that failed, or ran into their time limit, with all their retries, and
/// count as infeasible: where none with the same settings has completed. A search comes back to
/// where it expects much, so where one run failed, its neighbours would follow. None before a run
/// has completed. In a designed experiment failed runs are left out.
std::set<int> failures_that_count(const study::Plan& plan,
                                  const std::map<int, study::RunRecord>& final_records);

/// The runs whose configurations cannot run: those recorded as infeasible, of a search the failures
/// that count as such, and else those at settings where two or more failed, one that confirms among
/// them, and none completed.
std::set<int> infeasible_runs(const study::Plan& plan,
                              const std::map<int, study::RunRecord>& final_records);

/// Whether one of these is of these settings.
bool has_been_infeasible(const study::Plan& plan,
                         const std::map<int, study::RunRecord>& final_records,
                         const std::vector<double>& settings);

/// The reason for which the first runs failed, all of them alike, three or more, and without an
/// exit code or with the same; empty if a run has ended otherwise.
std::string first_runs_failed_alike(const std::map<int, study::RunRecord>& final_records);

}  // namespace doetune::analysis
