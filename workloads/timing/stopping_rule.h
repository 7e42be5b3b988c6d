// When a workload stops measuring.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "runner/measurement/measurement.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// What a request with the input `duration` asks of each measurement, of at least so many values.
measurement::StoppingRule stopping_rule(const Request& request, int min_count);

/// The moment, in seconds of the steady clock, by which a program that began at `start` is to have
/// measured; empty without a time limit.
std::optional<double> deadline_s(const Request& request, Clock::time_point start);

}  // namespace doetune::workloads
