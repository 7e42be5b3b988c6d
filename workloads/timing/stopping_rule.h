// When a workload stops measuring.
#pragma once

#include "runner/measurement/measurement.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// What a request with the input `duration` asks of each measurement, of at least so many values.
measurement::StoppingRule stopping_rule(const Request& request, int least_count);

}  // namespace doetune::workloads
