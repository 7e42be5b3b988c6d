// What became of an attempt: from how it ended and what it wrote to a record of the journal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"
#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::runner {

/// Exit code by which a program says that these settings cannot run (EX_NOPERM of sysexits.h, which
/// no measuring program needs).
inline constexpr int kInfeasibleExitCode = 77;

/// So much of the end of an attempt's standard output and error is read.
inline constexpr std::size_t kTailBytes = 1 << 20;

/// What an attempt's program wrote, as far as anybody reads it.
struct AttemptOutput {
  std::optional<std::string> result;  ///< result.json; empty where there is none that can be read
  std::string result_problem;         ///< why result.json cannot be read though something is there
  std::string output;                 ///< the last of standard output
  std::string errors;                 ///< the last of standard error
  bool output_cut = false;            ///< there is more standard output than that
  std::filesystem::path telemetry = {};  ///< telemetry.csv, there or not; may be empty
};

AttemptOutput read_output(const std::filesystem::path& attempt_directory);

/// The record of an attempt. A response comes from its pattern if it has one, else from
/// result.json if there is one, else from the last JSON object of standard output; there as
///
///   {"responses": {"throughput": 861.2, "power": [299.1, 300.4]}, "notes": {"engine": "onednn"}}
///
/// or without the inner object. A list holds repeats; their mean counts. A response that is not
/// there may be such a list in an object "repeats" beside. A pattern is a regular
/// expression in RE2's syntax (no backreferences, no lookahead: matching takes linear time whatever
/// the output), tried on each line; the last line that matches counts, its first group if it has
/// one.
///
/// A response that is a quantity of the runner's telemetry (study/quantities.h) comes from there if
/// the program says nothing of it. Telemetry speaks of the window that the program names, else of
/// all but the study's warm-up.
///
/// completed   exit code 0, every measured response there and finite
/// infeasible  exit code 77, or not 0 and the output tells of memory that ran out
/// timed_out, cancelled, lost  as the launcher says; lost also where a response would come from
///             output of which the runner could not keep all
/// failed      anything else, with a reason
study::RunRecord assess(const study::Study& study, const study::PlannedRun& run, int attempt,
                        const AttemptEnd& end, const AttemptOutput& output);

/// Throws RunError for a response whose pattern is no regular expression.
void check_patterns(const study::Study& study);

}  // namespace doetune::runner
