#include "reports/documents/json_parts.h"

#include <cmath>

namespace doetune::reports {

using nlohmann::ordered_json;

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
