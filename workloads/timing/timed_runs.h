// Measurement of a repeatable run: warm-up, runs until the stopping rule is met, repeats, result.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "runner/measurement/measurement.h"
#include "workloads/protocol/protocol.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {

/// Runs `repetitions` times and returns the seconds taken.
using TimedRuns = std::function<double(int repetitions)>;

struct TimingOptions {
  double warmup_s = 0;  ///< minimum, before anything is recorded; at least one run
  double slice_s = 0;   ///< duration of runs timed together; 0: each run by itself
  measurement::StoppingRule rule;
  int repeats = 1;  ///< measurements; fewer where the rule's deadline leaves no time
};

/// One measurement: the mean seconds per run of each slice after the warm-up.
struct TimedMeasurement : Measured<double> {
  std::int64_t runs = 0;  ///< in those slices, all of the same size
};

/// At least one measurement. Times are seconds of the steady clock.
std::vector<TimedMeasurement> time_runs(const TimedRuns& run, const TimingOptions& options);

/// The options of a request with the inputs `warmup` and `duration` (timing_inputs). `start` is
/// when the program started.
TimingOptions timing_options(const Request& request, Clock::time_point start);

/// A response derived from the mean seconds of a run.
struct Derived {
  std::string name;
  std::function<double(double seconds)> value;
};

/// The responses with a repeat for each measurement, and the notes.
Result timed_result(const std::vector<TimedMeasurement>& measured, int wanted,
                    const std::vector<Derived>& responses);

}  // namespace doetune::workloads
