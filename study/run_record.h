// What became of one attempt at one planned run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

/// completed   exit 0, every declared response present and finite
/// infeasible  the settings cannot run (out of memory, exit code 77): a fact, never retried
/// failed      anything else; retried up to the study's limit
/// timed_out   stopped at the time limit
/// cancelled   stopped by the user
/// lost        the machine it ran on went away
enum class RunStatus { kCompleted, kInfeasible, kFailed, kTimedOut, kCancelled, kLost };

std::string_view run_status_name(RunStatus status);
std::optional<RunStatus> run_status_from_name(std::string_view name);

/// Measurements of one response inside one run.
struct Repeats {
  int count = 0;
  double mean = 0;
  double variance = 0;  ///< of one repeat, by count - 1
};

struct RunRecord {
  int run = 0;      ///< the plan's run number
  int attempt = 1;  ///< from 1
  RunStatus status = RunStatus::kFailed;
  std::map<std::string, std::string> settings;  ///< what was run, as plan.csv has it; empty: older
  std::string reason;                           ///< why it did not complete; empty if it did
  std::optional<int> exit_code;
  std::string host;
  std::string gpu;    ///< assigned GPUs, comma separated; may be empty
  std::string cpus;   ///< processors it was bound to, e.g. 0-3; empty: not bound
  std::string start;  ///< UTC, ISO 8601, e.g. 2026-11-21T07:38:18.123Z
  double duration_s = 0;
  std::map<std::string, double> responses;   ///< measured and derived, finite
  std::map<std::string, std::string> notes;  ///< the workload's own remarks
  std::map<std::string, Repeats> repeats;    ///< of responses measured more than once
  std::map<std::string, double> half_width;  ///< of the mean's 95 % interval, relative
  std::optional<bool> steady;                ///< whether the measured window was; empty: not known
  std::map<std::string, double> telemetry;   ///< by the names of quantities.h
  std::string bottleneck;                    ///< what limited the run; empty where not judged
  std::string evidence;                      ///< for the bottleneck, a sentence
  std::vector<std::string> flags;            ///< sentences: what makes the measurement doubtful
  std::string conditions;  ///< names a file conditions/ID.json of the study; may be empty
};

/// The record of the highest attempt of each run, by run number: what the table of results shows.
std::map<int, RunRecord> final_records(const std::vector<RunRecord>& records);

}  // namespace doetune::study
