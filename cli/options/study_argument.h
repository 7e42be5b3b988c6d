// Common arguments of commands: the study directory, and options that modify its analysis.
#pragma once

#include "analysis/analysis.h"
#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Declares the optional positional argument DIR.
void add_directory(Options& options);

/// The study directory named by DIR, by default the one in or under the current directory.
std::filesystem::path given_directory(const Options& options);

/// Opens the study directory named by DIR, by default the one in or under the current directory.
study::StudyDirectory open_study(const Options& options);

/// Opens it for a command that makes or adds runs. Throws UsageError if the study file beside the
/// directory was edited in what determines them: its user expects other runs.
study::StudyDirectory open_for_runs(const Options& options);

/// Declares --model and --transform.
void add_fit_options(Options& options);

/// Declares --goal and --hold.
void add_goal_options(Options& options);

/// The factor named by an option; empty if the option is not given. Throws UsageError with the most
/// similar name.
std::string checked_factor(const Options& options, const char* option, const study::Study& study);

/// The forms of a --goal: "maximize", "within:" (followed by values), ...
std::vector<std::string> goal_words();

/// Whether an option modifies the analysis; its result is then not written to fit.json or
/// optimum.json.
bool asks_otherwise(const Options& options);

/// The analysis options given. Throws UsageError for an unknown name, with the most similar valid
/// one, and for an invalid goal.
analysis::AnalysisOptions analysis_options(const Options& options, const study::Study& study);

/// The analysis by the same options, but of the plan's runs alone.
analysis::Analysis of_the_plan(const Options& options, const study::StudyDirectory& directory);

}  // namespace doetune::cli
