// The stopping rule of measurements, from a request.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "runner/measurement/measurement.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// The rule for each measurement of a request with the input `duration`, with at least `min_count`
/// values.
measurement::StoppingRule stopping_rule(const Request& request, int min_count);

/// Seconds of the time limit that a program may measure for; the rest is for shutting down. Without
/// a limit, decades.
double usable_time_s(const Request& request);

/// The time, in seconds of the steady clock, by which a program started at `start` must have
/// finished measuring; empty without a time limit.
std::optional<double> deadline_s(const Request& request, Clock::time_point start);

}  // namespace doetune::workloads
