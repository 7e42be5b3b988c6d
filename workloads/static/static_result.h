// From the measurements of a static run to what the workload answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/networks/network.h"
#include "workloads/protocol/protocol.h"
#include "workloads/static/static_job.h"

namespace doetune::workloads {

/// What the answer needs besides the measurements.
struct ResultContext {
  Head head;
  JobPlan plan;
  std::size_t executors = 1;
  std::optional<double> throughput_alone;  ///< of one executor, where it was measured
  int wanted = 1;                          ///< measurements
};

std::vector<Response> static_responses();

/// Responses are means of the measurements, of which there is at least one, each with at least one
/// pass. What does not exist for the network is left out, with a note.
Result static_result(const std::vector<JobMeasurement>& measured, const ResultContext& context);

}  // namespace doetune::workloads
