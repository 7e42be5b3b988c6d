// Measures something that can be run over and over: warm-up, runs until the stopping rule is met,
// repeats, and the result that tells of it.
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

/// Runs so many times and returns the seconds that took.
using TimedRuns = std::function<double(int repetitions)>;

struct TimingOptions {
  double warmup_s = 0;  ///< at least, before anything is recorded; one run in any case
  double slice_s = 0;   ///< runs that are timed together take so long; 0: each run by itself
  measurement::StoppingRule rule;
  int repeats = 1;  ///< measurements; fewer where the rule's deadline leaves no time for more
};

/// One measurement: of a run, the seconds of each slice that counts.
struct TimedMeasurement : Measured<double> {
  std::int64_t runs = 0;  ///< in those slices, which all have as many
};

/// At least one measurement. Moments are seconds of the steady clock.
std::vector<TimedMeasurement> time_runs(const TimedRuns& run, const TimingOptions& options);

/// What a request with the inputs `warmup` and `duration` (timing_inputs) asks for. `start` is when
/// the program began.
TimingOptions timing_options(const Request& request, Clock::time_point start);

/// A response that follows from the mean seconds of a run.
struct Derived {
  std::string name;
  std::function<double(double seconds)> value;
};

/// Responses, with a repeat for each measurement, and what to know of them.
Result timed_result(const std::vector<TimedMeasurement>& measured, int wanted,
                    const std::vector<Derived>& responses);

}  // namespace doetune::workloads
