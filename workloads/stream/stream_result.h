// The responses of stream-inference from its measurements.
#pragma once

#include <string>
#include <vector>

#include "workloads/protocol/protocol.h"
#include "workloads/stream/stream.h"

namespace doetune::workloads {

/// The quantiles in the names of the responses.
std::vector<double> quantiles_of(const std::vector<std::string>& responses);

/// Mean processing time over the interval: above 1 the stream does not keep up.
double mean_load(const std::vector<StreamMeasurement>& measured, const StreamPlan& plan);

/// Responses are means of the measurements (at least one; `wanted` were requested), each of at
/// least one micro-batch. Means and ratios have half-widths by batch means, percentiles by order
/// statistics, over all measurements together. A percentile for which a measurement has too few
/// values is omitted, with a note.
Result stream_result(const std::vector<StreamMeasurement>& measured, int wanted, int executors);

}  // namespace doetune::workloads
