// The responses of static-inference from its measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/networks/network.h"
#include "workloads/protocol/protocol.h"
#include "workloads/static/static_job.h"

namespace doetune::workloads {

/// What the responses depend on besides the measurements.
struct ResultContext {
  Head head;
  JobPlan plan;
  std::size_t executors = 1;
  std::optional<double> throughput_alone;  ///< of one executor, if measured
  int wanted = 1;                          ///< number of measurements requested
};

std::vector<Response> static_responses();

/// Responses are means of the measurements; there is at least one, each of at least one pass.
/// Responses that do not apply to the network are omitted, with a note.
Result static_result(const std::vector<JobMeasurement>& measured, const ResultContext& context);

}  // namespace doetune::workloads
