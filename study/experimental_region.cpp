#include "study/experimental_region.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace doetune::study {
namespace {

std::string range_text(const doe::Factor& factor) {
  switch (factor.kind) {
    case doe::FactorKind::kCategorical:
      return fmt::format("levels {}", fmt::join(factor.level_names, ", "));
    case doe::FactorKind::kDiscrete:
      return fmt::format("levels {} from {} to {}", fmt::join(factor.levels, ", "), factor.low,
                         factor.high);
    case doe::FactorKind::kInteger:
      return fmt::format("integer from {} to {}", factor.low, factor.high);
    case doe::FactorKind::kContinuous:
      break;
  }
  return fmt::format("continuous from {} to {}", factor.low, factor.high);
}

std::string factor_text(const doe::Factor& factor) {
  std::string text = range_text(factor);
  if (factor.step > 0) text += fmt::format(", step {}", factor.step);
  if (factor.scale == doe::Scale::kLog2) text += ", scale log2";
  if (factor.scale == doe::Scale::kLog10) text += ", scale log10";
  if (factor.hard_to_change) text += ", hard to change";
  return text;
}

std::string forbidden_text(const doe::Forbidden& forbidden, const Study& study) {
  std::vector<std::string> parts;
  for (const doe::Condition& condition : forbidden) {
    const doe::Factor& factor = study.factors[static_cast<std::size_t>(condition.factor)];
    parts.push_back(fmt::format("{} {} {}", factor.name, doe::symbol(condition.comparison),
                                factor.format(condition.value)));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

}  // namespace

std::map<std::string, std::string> experimental_region(const Study& study) {
  std::map<std::string, std::string> texts;
  for (const doe::Factor& factor : study.factors) {
    texts["factors." + factor.name] = factor_text(factor);
  }
  std::vector<std::string> constraints;
  for (const auto& constraint : study.region.constraints()) {
    constraints.push_back(constraint->text());
  }
  std::vector<std::string> forbidden;
  for (const doe::Forbidden& combination : study.region.forbidden()) {
    forbidden.push_back(forbidden_text(combination, study));
  }
  texts["constraints"] = fmt::format("{}", fmt::join(constraints, "; "));
  texts["forbidden"] = fmt::format("{}", fmt::join(forbidden, "; "));
  return texts;
}

}  // namespace doetune::study
