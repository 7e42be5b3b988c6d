// The responses of llm-inference from its measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/language/generation_load.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

std::vector<Response> llm_responses();

/// Memory of a run, in bytes.
struct LlmMemory {
  std::int64_t weights = 0;
  std::int64_t cache = 0;  ///< of all executors
};

/// Responses are means of the measurements, of which there is at least one, each of at least one
/// request (`wanted` were asked for). Rates are sums over the time between the ends of the first
/// and the last request.
Result llm_result(const std::vector<GenerationMeasurement>& measured, const LlmMemory& memory,
                  bool has_roofline, int wanted);

}  // namespace doetune::workloads
