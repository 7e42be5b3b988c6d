// The outcome of one attempt at a planned run.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

/// completed   exit 0, every declared response present and finite
/// infeasible  the settings cannot run (out of memory, exit code 77); never retried
/// failed      anything else; retried up to the study's limit
/// timed_out   stopped at the time limit
/// cancelled   stopped by the user
/// lost        the machine it ran on became unavailable
/// ended_early by its progress clearly worse than other runs (run.end_early)
enum class RunStatus {
  kCompleted,
  kInfeasible,
  kFailed,
  kTimedOut,
  kCancelled,
  kLost,
  kEndedEarly
};

/// Whether a run that ended like this is never made again.
bool is_decided(RunStatus status);

std::string_view run_status_name(RunStatus status);
std::optional<RunStatus> run_status_from_name(std::string_view name);

/// Repeated measurements of one response within a run.
struct Repeats {
  int count = 0;
  double mean = 0;
  double variance = 0;  ///< variance of a single repeat, with divisor count - 1
};

/// Where a response would have been that was not measured to its end: censored. Either end may be
/// infinite.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// A workload's estimates, after a part of its work, of what it will have measured at its end.
struct ProgressPoint {
  double step = 0;  ///< how far it is, in a unit that is the same for all settings
  std::map<std::string, double> responses;
};

struct RunRecord {
  int run = 0;      ///< the plan's run number
  int attempt = 1;  ///< from 1
  RunStatus status = RunStatus::kFailed;
  std::map<std::string, std::string> settings;  ///< as in plan.csv; empty in records of older
                                                ///< versions
  std::string reason;                           ///< why it did not complete; empty if it did
  std::optional<int> exit_code;
  std::string host;
  std::string gpu;    ///< assigned GPUs, comma separated; may be empty
  std::string cpus;   ///< processors it was bound to, e.g. 0-3; empty if not bound
  std::string start;  ///< UTC, ISO 8601, e.g. 2026-11-21T07:38:18.123Z
  double duration_s = 0;
  std::map<std::string, double> responses;   ///< measured and derived, finite; of a run ended early
                                             ///< as it reported them last
  std::map<std::string, Range> bounds;       ///< of a run ended early: see Range
  std::map<std::string, std::string> notes;  ///< remarks of the workload
  std::map<std::string, Repeats> repeats;    ///< of responses measured more than once
  std::map<std::string, double> half_width;  ///< half-width of the 95 % confidence interval,
                                             ///< relative to the mean
  std::optional<bool> steady;  ///< whether the measured window was in steady state; empty if
                               ///< unknown
  std::map<std::string, double> telemetry;  ///< by the names in telemetry_quantities.h
  std::string bottleneck;                   ///< what limited the run; empty if not determined
  std::string evidence;                     ///< for the bottleneck, as a sentence
  std::vector<std::string> flags;           ///< reasons to doubt the measurement, as sentences
  /// The run that ended in this way in its place: infeasible with the same settings, or without the
  /// server of the whole plot. This one was not executed.
  std::optional<int> same_as;
  bool in_set_up = false;          ///< it ended while the server of its whole plot was set up
  std::optional<double> set_up_s;  ///< time to set up the server, if it was for this run
  std::string conditions;          ///< ID of the file conditions/ID.json of the study; may be empty
};

/// The record with the highest attempt number of each run, by run number: as in the table of
/// results.
std::map<int, RunRecord> final_records(const std::vector<RunRecord>& records);

}  // namespace doetune::study
