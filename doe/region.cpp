#include "doe/region.h"

#include <fmt/format.h>

#include <algorithm>

namespace doetune::doe {
namespace {

bool holds(const Condition& condition, const std::vector<double>& natural) {
  const double x = natural[condition.factor];
  switch (condition.comparison) {
    case Condition::Comparison::kEqual:
      return x == condition.value;
    case Condition::Comparison::kLess:
      return x < condition.value;
    case Condition::Comparison::kLessEqual:
      return x <= condition.value;
    case Condition::Comparison::kGreater:
      return x > condition.value;
    case Condition::Comparison::kGreaterEqual:
      return x >= condition.value;
  }
  return false;
}

std::string described(const Forbidden& forbidden, const std::vector<Factor>& factors) {
  std::string text = "forbidden: ";
  for (std::size_t i = 0; i < forbidden.size(); ++i) {
    const Factor& factor = factors[forbidden[i].factor];
    text += fmt::format("{}{} {} {}", i == 0 ? "" : " and ", factor.name,
                        symbol(forbidden[i].comparison), factor.format(forbidden[i].value));
  }
  return text;
}

}  // namespace

const char* symbol(Condition::Comparison comparison) {
  switch (comparison) {
    case Condition::Comparison::kEqual:
      return "=";
    case Condition::Comparison::kLess:
      return "<";
    case Condition::Comparison::kLessEqual:
      return "<=";
    case Condition::Comparison::kGreater:
      return ">";
    case Condition::Comparison::kGreaterEqual:
      return ">=";
  }
  return "?";
}

Region::Region(std::vector<Factor> factors,
               std::vector<std::shared_ptr<const Expression>> constraints,
               std::vector<Forbidden> forbidden)
    : factors_(std::move(factors)),
      constraints_(std::move(constraints)),
      forbidden_(std::move(forbidden)) {}

bool Region::allows(const std::vector<double>& natural) const {
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const auto& constraint) {
                       const double value = constraint->value(natural);
                       return value == value && value != 0;
                     }) &&
         std::none_of(forbidden_.begin(), forbidden_.end(),
                      [&](const Forbidden& combination) {
                        return std::all_of(
                            combination.begin(), combination.end(),
                            [&](const Condition& condition) { return holds(condition, natural); });
                      }) &&
         std::all_of(tests_.begin(), tests_.end(),
                     [&](const Test& test) { return test.passes(natural); });
}

std::optional<std::string> Region::excluded_by(const std::vector<double>& natural) const {
  for (const auto& constraint : constraints_) {
    if (!Region(factors_, {constraint}, {}).allows(natural)) return constraint->text();
  }
  for (const Forbidden& combination : forbidden_) {
    if (!Region(factors_, {}, {combination}).allows(natural))
      return described(combination, factors_);
  }
  for (const Test& test : tests_) {
    if (!test.passes(natural)) return test.text;
  }
  return std::nullopt;
}

Region Region::without(const std::vector<double>& natural) const {
  Region smaller = *this;
  Forbidden point;
  for (std::size_t f = 0; f < natural.size(); ++f) {
    point.push_back({static_cast<int>(f), Condition::Comparison::kEqual, natural[f]});
  }
  smaller.forbidden_.push_back(std::move(point));
  return smaller;
}

Region Region::where(std::function<bool(const std::vector<double>&)> test, std::string text) const {
  Region smaller = *this;
  smaller.tests_.push_back({std::move(test), std::move(text)});
  return smaller;
}

Region Region::for_another_thread() const {
  Region copy = *this;
  for (auto& constraint : copy.constraints_) {
    constraint = std::make_shared<const Expression>(constraint->text(), constraint->variables());
  }
  return copy;
}

}  // namespace doetune::doe
