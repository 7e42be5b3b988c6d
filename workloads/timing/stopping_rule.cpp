#include "workloads/timing/stopping_rule.h"
#include "base/clock.h"

#include <algorithm>

namespace doetune::workloads {
namespace {

constexpr double kReserve = 0.95;  // of the time limit; the rest is for shutting down

}  // namespace

measurement::StoppingRule stopping_rule(const Request& request, int min_count) {
  measurement::StoppingRule rule;
  rule.precision = request.precision;
  rule.min_s = std::max(request.inputs.number("duration"), request.min_time_s.value_or(0));
  rule.min_count = static_cast<std::size_t>(min_count);
  rule.max_s = request.max_time_s;
  return rule;
}

double usable_time_s(const Request& request) {
  return kReserve * request.time_limit_s.value_or(1e9);
}

std::optional<double> deadline_s(const Request& request, Clock::time_point start) {
  if (!request.time_limit_s) return std::nullopt;
  return std::chrono::duration<double>(start.time_since_epoch()).count() + usable_time_s(request);
}

}  // namespace doetune::workloads
