#include "study/error.h"

#include <fmt/format.h>

#include "base/nearest_name.h"

namespace doetune::study {

std::string setting_error(const doe::Factor& factor, const std::string& text) {
  const std::string start = fmt::format("'{}' is not a setting of factor '{}'", text, factor.name);
  if (factor.is_categorical()) return start + did_you_mean_or_list(text, factor.level_names);
  if (factor.kind == doe::FactorKind::kDiscrete) {
    std::string levels;
    for (const double level : factor.levels) {
      levels += (levels.empty() ? "" : ", ") + factor.format(level);
    }
    return start + "; expected one of " + levels;
  }
  return fmt::format("{}; expected a{} from {} to {}", start,
                     factor.kind == doe::FactorKind::kInteger ? "n integer" : " number",
                     factor.format(factor.low), factor.format(factor.high));
}

}  // namespace doetune::study
