#include "reports/json/json_parts.h"

#include <cmath>
#include <cstdint>

namespace doetune::reports {
namespace {

constexpr double kExactInteger = 9007199254740992;  // 2^53

json::Value setting_json(const doe::Factor& factor, double setting) {
  if (factor.is_categorical()) return factor.format(setting);
  if (factor.kind != doe::FactorKind::kContinuous && setting == std::trunc(setting) &&
      std::abs(setting) < kExactInteger) {
    return static_cast<std::int64_t>(setting);  // avoids a decimal point
  }
  return setting;
}

}  // namespace

json::Format<surfaces::Interval> interval_format() {
  return json::format<surfaces::Interval>(json::list(json::number()),
                                          [](const surfaces::Interval& ends) {
                                            return json::Value{ends.low, ends.high};
                                          });
}

json::Format<std::vector<double>> settings_format(const std::vector<doe::Factor>& factors) {
  return json::format<std::vector<double>>(json::map(json::either({json::number(), json::text()})),
                                           [factors](const std::vector<double>& settings) {
                                             json::Value object = json::Value::object();
                                             for (std::size_t f = 0; f < factors.size(); ++f) {
                                               object[factors[f].name] =
                                                   setting_json(factors[f], settings[f]);
                                             }
                                             return object;
                                           });
}

json::Format<analysis::Fallback> fallback_format() {
  using analysis::Fallback;
  return json::object<Fallback>({{"model", &Fallback::model}, {"reason", &Fallback::reason}});
}

json::Format<analysis::Verdict> verdict_format() {
  using analysis::Verdict;
  const auto status = [](const Verdict& verdict) { return analysis::status_name(verdict.status); };
  return json::object<Verdict>(
      {{"status", status}, {"headline", &Verdict::headline}, {"caveats", &Verdict::caveats}});
}

}  // namespace doetune::reports
