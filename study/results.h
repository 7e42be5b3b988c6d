// The table of results: the plan's runs with what was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/directory.h"
#include "study/run_record.h"

namespace doetune::study {

/// Fills derived responses (formula) from the measured ones, in the study's order, in place of any
/// that are there. One whose value is not finite is left out. A formula may also use factors, and
/// quantities of the record's telemetry.
void add_derived_responses(const Study& study, const PlannedRun& run, RunRecord& record);

/// plan.csv's columns, then attempt,status,host,gpu,start,duration_s,<responses...>; empty where
/// there is no value. Cells that a spreadsheet would compute are marked as text (shown_as_text).
/// Derived responses are computed anew: a formula may have been edited since the run.
std::string results_csv(const StudyDirectory& directory, const std::map<int, RunRecord>& records);

}  // namespace doetune::study
