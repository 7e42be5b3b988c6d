// How `doetune run` handles outlying runs: reports them, and replicates them on request.
#pragma once

#include <string>
#include <vector>

#include "analysis/run_quality.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// The outlying runs without those already replicated, replicates, and confirmation and baseline
/// runs, whose number is fixed.
std::vector<analysis::OutlyingRun> not_repeated(const study::Plan& plan,
                                                std::vector<analysis::OutlyingRun> outlying);

/// The first of these runs, limited so that replicates are at most a quarter of the plan's other
/// runs that are used in fits.
std::vector<int> within_a_quarter(const study::Plan& plan,
                                  const std::vector<analysis::OutlyingRun>& outlying);

/// The runs to replicate according to `run.outliers` (none for `flag`), by run number. Reports on
/// standard error which runs are outlying and why, which are replicated, and the command to
/// replicate the others.
std::vector<int> assess_outlying_runs(const study::StudyDirectory& directory);

/// Parses the run numbers of --rerun. Throws UsageError for a run that has not completed, and for
/// an empty list.
std::vector<int> runs_to_rerun(const std::string& text, const study::StudyDirectory& directory);

/// Appends replicates of the runs to the plan, on disk unless `dry_run`; returns their run numbers.
std::vector<int> add_repeats(study::StudyDirectory& directory, const std::vector<int>& runs,
                             bool dry_run = false);

}  // namespace doetune::cli
