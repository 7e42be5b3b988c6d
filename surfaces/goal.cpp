#include "surfaces/goal.h"

#include <algorithm>
#include <cmath>

namespace doetune::surfaces {
namespace {

/// A limit missed by less than this counts as met: predictions contain rounding errors.
constexpr double kLimitRounding = 1e-9;

/// 0 at or below `from`, 1 at or above `to`, linear in between, raised to the power `weight`.
double ramp(double y, double from, double to, double weight) {
  if (from == to) return y >= to ? 1 : 0;
  const double fraction = std::clamp((y - from) / (to - from), 0.0, 1.0);
  return weight == 1 ? fraction : std::pow(fraction, weight);
}

}  // namespace

bool Goal::is_limit() const {
  return type == GoalType::kWithin || type == GoalType::kAtMost || type == GoalType::kAtLeast;
}

double Goal::met_low() const {
  return type == GoalType::kAtMost || type == GoalType::kMinimize
             ? -std::numeric_limits<double>::infinity()
             : low - slack;
}

double Goal::met_high() const {
  return type == GoalType::kAtLeast || type == GoalType::kMaximize
             ? std::numeric_limits<double>::infinity()
             : high + slack;
}

bool Goal::is_met(double y) const {
  return is_limit() ? violation(y) == 0 : !is_stated || desirability(y) > 0;
}

double Goal::violation(double y) const {
  if (!is_limit()) return 0;
  const double outside = std::max(met_low() - y, y - met_high()) / scale;
  return outside > kLimitRounding ? outside : 0;
}

double Goal::desirability(double y) const {
  switch (type) {
    case GoalType::kMaximize:
      return ramp(y, low, high, weight);
    case GoalType::kMinimize:
      return ramp(-y, -high, -low, weight);
    case GoalType::kTarget:
      return std::min(ramp(y, low, target, weight), ramp(-y, -high, -target, weight));
    default:
      return ramp(-violation(y), -1, 0, weight);
  }
}

double Goal::shortfall(double y) const {
  if (is_limit()) return 0;
  const double width = high > low ? high - low : scale;
  return std::max({0.0, met_low() - y, y - met_high()}) / width;
}

double Goal::excess(double y) const {
  const double width = high > low ? high - low : scale;
  if (type == GoalType::kMaximize) return std::max(0.0, y - high) / width;
  if (type == GoalType::kMinimize) return std::max(0.0, low - y) / width;
  return 0;
}

void Goal::close(double lowest, double highest) {
  const double range = highest - lowest;
  scale = range > 0 ? range : std::max(1.0, std::abs(highest));
  if (is_limit()) return;
  is_stated = is_stated && (std::isfinite(met_low()) || std::isfinite(met_high()));
  // If the response is constant, the ramp is centred on it: desirability one half everywhere.
  double from = range > 0 ? lowest : lowest - scale;
  double to = range > 0 ? highest : highest + scale;
  if (type == GoalType::kTarget) {
    const double reach = std::max({target - from, to - target, scale});
    from = target - reach;
    to = target + reach;
  }
  if (std::isinf(low)) low = std::min(from, high - scale);
  if (std::isinf(high)) high = std::max(to, low + scale);
}

}  // namespace doetune::surfaces
