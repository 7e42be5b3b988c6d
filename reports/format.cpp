#include "reports/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace doetune::reports {
namespace {

std::string fixed(double x, int decimals) {
  const std::string text = fmt::format("{:.{}f}", x, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero && text[0] == '-' ? text.substr(1) : text;
}

}  // namespace

std::string short_number(double x) {
  const double size = std::abs(x);
  if (size >= 1000 && size < 1e7) return fmt::format("{:.0f}", x);
  return fmt::format("{:.4g}", x == 0 ? 0.0 : x);
}

std::string exact_number(double x) { return fmt::format("{}", x); }

std::string number_to(double x, double resolution) {
  if (!(resolution > 0) || !std::isfinite(resolution) || std::abs(x) >= 1e7) return short_number(x);
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(resolution)));
  return decimals > 6 ? short_number(x) : fixed(x, std::max(decimals, 0));
}

std::string interval_text(const surfaces::Interval& interval) {
  const double half = (interval.high - interval.low) / 2;
  return number_to(interval.low, half) + " to " + number_to(interval.high, half);
}

std::string p_text(double p) {
  return p < 0.0001 ? std::string("< 0.0001") : fmt::format("{:.2g}", p);
}

std::string p_words(double p) { return p < 0.0001 ? "p < 0.0001" : "p = " + p_text(p); }

std::string percent(double probability) {
  if (probability > 0.99 && probability < 1) return "> 99 %";
  if (probability < 0.01 && probability > 0) return "< 1 %";
  return fmt::format("{:.0f} %", 100 * probability);
}

std::string with_unit(std::string_view number, std::string_view unit) {
  return unit.empty() ? std::string(number) : fmt::format("{} {}", number, unit);
}

std::string name_with_unit(std::string_view name, std::string_view unit) {
  return unit.empty() ? std::string(name) : fmt::format("{} [{}]", name, unit);
}

std::string goal_text(const surfaces::Goal& goal, std::string_view unit) {
  using surfaces::GoalType;
  const auto value = [&](double x) { return with_unit(short_number(x), unit); };
  switch (goal.type) {
    case GoalType::kMaximize:
      return "maximize";
    case GoalType::kMinimize:
      return "minimize";
    case GoalType::kTarget:
      return "target " + value(goal.target);
    case GoalType::kWithin:
      return "within " + short_number(goal.low) + " to " + value(goal.high);
    case GoalType::kAtMost:
      return "at most " + value(goal.high);
    case GoalType::kAtLeast:
      return "at least " + value(goal.low);
  }
  return {};
}

std::string count_of(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace doetune::reports
