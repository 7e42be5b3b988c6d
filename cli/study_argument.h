// The study directory a command is about, and the options that change its analysis.
#pragma once

#include "analysis/analysis.h"
#include "cli/command.h"
#include "study/directory.h"

namespace doetune::cli {

/// Declares the optional positional argument DIR.
void add_directory(Options& options);

/// The study directory that DIR names, or the one in or under the current directory.
std::filesystem::path given_directory(const Options& options);

/// Opens the study directory that DIR names, or the one in or under the current directory.
study::StudyDirectory open_study(const Options& options);

/// Declares --model and --transform.
void add_fit_options(Options& options);

/// Declares --goal and --hold.
void add_goal_options(Options& options);

/// The factor that an option names; empty where it is not given. Throws UsageError with the nearest
/// name.
std::string checked_factor(const Options& options, const char* option, const study::Study& study);

/// What --goal may ask of a response: "maximize", "within:" (which takes values), ...
std::vector<std::string> goal_words();

/// Whether any of them was given: the answer is then to a question of the moment, and does not
/// replace fit.json or optimum.json.
bool asks_otherwise(const Options& options);

/// The analysis options as given. Throws UsageError for an unknown name or a goal that cannot be
/// read, with the nearest valid name.
analysis::AnalysisOptions analysis_options(const Options& options, const study::Study& study);

}  // namespace doetune::cli
