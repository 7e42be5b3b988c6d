// The responses of serving-load from its measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/protocol/protocol.h"
#include "workloads/serving/load.h"

namespace doetune::workloads {

/// What a request must keep to count for goodput, in seconds; empty: anything does.
struct ServiceLimits {
  std::optional<double> first_token_s = {};
  std::optional<double> inter_token_s = {};
  std::optional<double> latency_s = {};

  bool any() const { return first_token_s || inter_token_s || latency_s; }
  /// A request without a first token keeps no limit on it.
  bool kept_by(const Answered& request) const;
};

std::vector<Response> serving_responses();

/// Responses are means of the measurements, of which there is at least one, each of at least one
/// request (`wanted` were asked for). Rates are sums over the time between the ends of the first
/// and the last request. Responses that do not apply are omitted, with a note.
Result serving_result(const std::vector<LoadMeasurement>& measured, const ServiceLimits& limits,
                      int wanted);

/// Failed requests as a fraction of all of the measurements.
double error_share(const std::vector<LoadMeasurement>& measured);

}  // namespace doetune::workloads
