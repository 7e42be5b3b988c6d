// What `doetune run` does about runs that stand out: it tells them, and measures them once more.
#pragma once

#include <string>
#include <vector>

#include "analysis/run_quality.h"
#include "study/directory.h"

namespace doetune::cli {

/// Of the runs that stand out, those that are neither measured once more in the plan nor such a
/// measurement themselves, and that surfaces are fitted to: which judge, are as many as asked for.
std::vector<analysis::OutlyingRun> not_repeated(const study::Plan& plan,
                                                std::vector<analysis::OutlyingRun> outlying);

/// The first of them, so many that the plan has at most a quarter more runs than it had without any
/// that were measured once more.
std::vector<int> within_a_quarter(const study::Plan& plan,
                                  const std::vector<analysis::OutlyingRun>& outlying);

/// The runs that `run.outliers` lets be measured once more, in order of their numbers; with `flag`
/// none. Tells on standard error which runs stand out and why, what is measured once more, and the
/// command for the others.
std::vector<int> assess_outlying_runs(const study::StudyDirectory& directory);

/// Numbers as the user gives them to --rerun. Throws UsageError for what is no completed run, or
/// for none.
std::vector<int> runs_to_rerun(const std::string& text, const study::StudyDirectory& directory);

/// Adds the runs once more to the plan, on disk unless `dry_run`; their new numbers.
std::vector<int> add_repeats(study::StudyDirectory& directory, const std::vector<int>& runs,
                             bool dry_run = false);

}  // namespace doetune::cli
