#include "reports/json/json_parts.h"

#include <cmath>
#include <cstdint>

namespace doetune::reports {

using nlohmann::ordered_json;

namespace {
constexpr double kExactInteger = 9007199254740992;  // 2^53
}

ordered_json number_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json vector_json(const Eigen::VectorXd& values) {
  return std::vector<double>(values.begin(), values.end());
}

ordered_json settings_json(const std::vector<doe::Factor>& factors,
                           const std::vector<double>& settings) {
  ordered_json json = ordered_json::object();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].is_categorical()) {
      json[factors[f].name] = factors[f].format(settings[f]);
    } else if (factors[f].kind != doe::FactorKind::kContinuous &&
               settings[f] == std::trunc(settings[f]) && std::abs(settings[f]) < kExactInteger) {
      json[factors[f].name] =
          static_cast<std::int64_t>(settings[f]);  // 3, which no program mistakes
    } else {
      json[factors[f].name] = settings[f];
    }
  }
  return json;
}

ordered_json interval_json(const std::optional<surfaces::Interval>& value) {
  if (!value) return nullptr;
  return ordered_json::array({value->low, value->high});
}

}  // namespace doetune::reports
