// A study that is searched: its problem, its first runs, what they measured and the runs after.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "study/directory/directory.h"
#include "study/directory/progress.h"
#include "study/run_record.h"
#include "tuning/early_ending.h"
#include "tuning/problem.h"
#include "tuning/proposal.h"

namespace doetune::tuning {

/// The factors, constraints and responses with goals of a study. Throws study::StudyError, naming
/// the place, if there is nothing to maximise, to minimise or to bring to a target.
Problem problem_of(const study::Study& study);

/// The completed and the infeasible runs with a final record, and those ended early, in the order
/// of their numbers; those that validate, too: they are measurements like others. Failed runs are
/// infeasible where they count (analysis::failures_that_count).
std::vector<Observation> observations_of(const study::StudyDirectory& directory,
                                         const std::map<int, study::RunRecord>& final_records);

/// What is recorded of a run of the plan if it is to be ended at this point of its progress; empty
/// if it goes on.
using AssessRun = std::function<std::optional<study::EarlyEnd>(const study::PlannedRun& run,
                                                               const study::ProgressPoint& latest)>;

/// Judges the runs that a search proposed; the others go on: the start is what they are compared
/// with, and a confirmation needs all of its runs. Null unless the study sets run.end_early; refers
/// to the study.
AssessRun assess_of(const study::StudyDirectory& directory,
                    const std::map<int, study::RunRecord>& final_records);

/// The end of a run that its user makes, and whether it was recorded now or before.
struct ToldEnd {
  study::EarlyEnd end;
  bool recorded_now = false;
};

/// Keeps what such a run reports at a step. Where it is to be ended, that is recorded, and told:
/// also to one who asks again. Throws like study::tell_run.
std::optional<ToldEnd> tell_progress(const study::StudyDirectory& directory, int run,
                                     const study::ProgressPoint& latest);

/// The study's problem without the settings of runs that failed or were ended early: they are not
/// proposed again. With hard-to-change factors, what is in place: the settings of the last run of
/// the plan; nothing if each batch has a server of its own (run.set_up). Changing them costs what
/// servers took to set up, in units of a run's time, at most kMaxChange; before that is known what
/// the design states (change_cost over run_cost), else kChange.
constexpr double kChange = 2, kMaxChange = 4;
Problem open_problem(const study::StudyDirectory& directory,
                     const std::map<int, study::RunRecord>& final_records);

/// The number of GPUs of a run at given settings (run.gpus_per_run).
std::function<double(const Settings&)> gpus_of(const study::Study& study);

/// The study with what its file leaves open chosen for a search of `budget` runs: a space-filling
/// design, and Gaussian processes as surfaces. Both are added to its text.
study::Study search_study(const study::Study& study, int budget);

/// Throws study::StudyError if a design of so many runs exceeds the budget.
void check_budget(const study::Study& study, std::size_t design_runs, int budget);

/// The first runs: the design that the study's file names, else start(). Throws study::StudyError,
/// also if they are more than the budget.
study::Plan first_plan(const study::Study& study, int budget);

/// The plan of a study with these runs after its own. Runs with the same hard-to-change settings as
/// the run before are of its whole plot, unless that had a server of another batch.
study::Plan with_proposals(const study::Study& study, study::Plan plan,
                           const std::vector<Proposal>& proposals);

}  // namespace doetune::tuning
