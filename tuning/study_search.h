// A study that is searched: its problem, its first runs, what they measured and the runs after.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/directory/directory.h"
#include "study/run_record.h"
#include "tuning/problem.h"
#include "tuning/proposal.h"

namespace doetune::tuning {

/// The factors, constraints and responses with goals of a study. Throws study::StudyError, naming
/// the place, if there is nothing to maximise, to minimise or to bring to a target, or if a factor
/// is hard to change: a search does not group runs into whole plots.
Problem problem_of(const study::Study& study);

/// The completed and the infeasible runs with a final record, in the order of their numbers; those
/// that validate, too: they are measurements like others.
std::vector<Observation> observations_of(const study::StudyDirectory& directory,
                                         const std::map<int, study::RunRecord>& final_records);

/// The study's problem without the settings of runs that failed: they are not proposed again.
Problem open_problem(const study::StudyDirectory& directory,
                     const std::map<int, study::RunRecord>& final_records);

/// The study with what its file leaves open chosen for a search of `budget` runs: a space-filling
/// design, and Gaussian processes as surfaces. Both are added to its text.
study::Study search_study(const study::Study& study, int budget);

/// The first runs: the design that the study's file names, else start(). Throws study::StudyError,
/// also if they are more than the budget.
study::Plan first_plan(const study::Study& study, int budget);

/// The plan with these runs after its own.
study::Plan with_proposals(study::Plan plan, const std::vector<Proposal>& proposals);

}  // namespace doetune::tuning
