#include "workloads/timing/stopping_rule.h"

#include <algorithm>

namespace doetune::workloads {

measurement::StoppingRule stopping_rule(const Request& request, int least_count) {
  measurement::StoppingRule rule;
  rule.precision = request.precision;
  rule.least_s = std::max(request.inputs.number("duration"), request.min_time_s.value_or(0));
  rule.least_count = static_cast<std::size_t>(least_count);
  rule.most_s = request.max_time_s;
  return rule;
}

}  // namespace doetune::workloads
