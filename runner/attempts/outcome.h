// Determines the journal record of an attempt from its end and its output.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/attempts/early_end.h"
#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::runner {

/// Exit code by which a program reports infeasible settings (EX_NOPERM of sysexits.h, which a
/// measuring program has no other use for).
inline constexpr int kInfeasibleExitCode = 77;

/// How much of the end of standard output and standard error is read.
inline constexpr std::size_t kTailBytes = 1 << 20;

/// The output of an attempt's program, as read.
struct AttemptOutput {
  std::optional<std::string> result;     ///< result.json; empty if missing or unreadable
  std::string result_problem;            ///< why an existing result.json cannot be read
  std::string output;                    ///< end of standard output
  std::string errors;                    ///< end of standard error
  bool output_cut = false;               ///< standard output is longer than `output`
  std::filesystem::path telemetry = {};  ///< telemetry.csv, which may not exist; may be empty
  std::optional<study::EarlyEnd> early_end = {};  ///< if the run was to be ended early
};

AttemptOutput read_output(const std::filesystem::path& attempt_directory);

/// The record of an attempt. A response with a pattern is read by it; otherwise from result.json if
/// it exists, else from the last JSON object of standard output, in the form
///
///   {"responses": {"throughput": 861.2, "power": [299.1, 300.4]}, "notes": {"engine": "onednn"}}
///
/// or without the inner object. A list holds repeats, whose mean is used. Alternatively such a list
/// may be given in a separate object "repeats". A pattern is a regular expression in RE2 syntax (no
/// backreferences, no lookahead: matching takes linear time), applied to each line; the last
/// matching line counts, and of it the first group if there is one.
///
/// A response named like a quantity of the runner's telemetry (study/telemetry_quantities.h) is
/// taken from there unless the program reports it. Telemetry is evaluated over the window that the
/// program reports, by default everything after the study's warm-up.
///
/// completed   exit code 0, every measured response present and finite
/// infeasible  exit code 77, or not 0 with an out-of-memory message in the output
/// timed_out, cancelled, lost  as reported by the launcher; lost also if a response depends on
///             output that the runner could not keep completely
/// ended_early stopped, or lost, after it was to be ended early: with what it reported last
/// failed      anything else, with a reason
study::RunRecord assess(const study::Study& study, const study::PlannedRun& run, int attempt,
                        const AttemptEnd& end, const AttemptOutput& output);

/// Throws RunError if the pattern of a response is not a valid regular expression.
void check_patterns(const study::Study& study);

}  // namespace doetune::runner
