// From the measurements of a stream to what the workload answers.
#pragma once

#include <string>
#include <vector>

#include "workloads/protocol/protocol.h"
#include "workloads/stream/stream.h"

namespace doetune::workloads {

/// Series longer than this are given as means of as many consecutive values as makes them fit.
inline constexpr std::size_t kLongestSeries = 10'000;

/// The quantiles that the names of responses ask for.
std::vector<double> quantiles_of(const std::vector<std::string>& responses);

/// Mean processing time over the interval: above 1 the stream does not keep up.
double mean_load(const std::vector<StreamMeasurement>& measured, const StreamPlan& plan);

/// Responses are means of the measurements (at least one, `wanted` were asked for), each with at
/// least one micro-batch. Means and ratios have the half-widths of batch means, percentiles those
/// of order statistics, over all measurements together. A percentile that the count of a
/// measurement does not support is left out, with a note.
Result stream_result(const std::vector<StreamMeasurement>& measured, int wanted, int executors);

}  // namespace doetune::workloads
