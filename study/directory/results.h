// The table of results: the runs of the plan with their measured responses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/directory/directory.h"
#include "study/run_record.h"

namespace doetune::study {

/// Computes derived responses (formula) in the study's order, replacing existing values. A value
/// that is not finite is omitted. A formula may also use factors and the telemetry quantities of
/// the record.
void add_derived_responses(const Study& study, const PlannedRun& run, RunRecord& record);

/// The records with derived responses.
std::map<int, RunRecord> with_derived_responses(const StudyDirectory& directory,
                                                std::map<int, RunRecord> final_records);

/// The same; completed runs with a value that the transform of a response with a goal does not
/// take, such as 0 with `transform: log`, count as failed, for that reason. The journal keeps them
/// as they were, since transforms can be edited.
std::map<int, RunRecord> usable_records(const StudyDirectory& directory,
                                        std::map<int, RunRecord> final_records);

/// The columns of plan.csv, then attempt,status,host,gpu,start,duration_s,<responses...>; missing
/// values are empty. Cells that a spreadsheet would compute are marked as text (shown_as_text).
/// Derived responses are recomputed: a formula may have been edited since the run.
std::string results_csv(const StudyDirectory& directory, const std::map<int, RunRecord>& records);

}  // namespace doetune::study
