// Factors used by the tests of several modules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"

namespace doetune::tests {

inline doe::Factor continuous(const std::string& name, double low = -1, double high = 1) {
  doe::Factor factor;
  factor.name = name;
  factor.low = low;
  factor.high = high;
  return factor;
}

/// k factors on [-1, 1], named a, b, ...
inline std::vector<doe::Factor> unit_factors(int k) {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < k; ++f) {
    factors.push_back(continuous(std::string(1, static_cast<char>('a' + f))));
  }
  return factors;
}

/// k factors on [-1, 1], named x0, x1, ...
inline std::vector<doe::Factor> numbered_factors(int k) {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < k; ++f) factors.push_back(continuous("x" + std::to_string(f)));
  return factors;
}

inline doe::Factor whole(const std::string& name, double low, double high) {
  doe::Factor factor = continuous(name, low, high);
  factor.kind = doe::FactorKind::kInteger;
  return factor;
}

inline doe::Factor powers_of_two(const std::string& name, std::vector<double> levels) {
  doe::Factor factor = continuous(name, levels.front(), levels.back());
  factor.kind = doe::FactorKind::kDiscrete;
  factor.scale = doe::Scale::kLog2;
  factor.levels = std::move(levels);
  return factor;
}

inline doe::Factor words(const std::string& name, std::vector<std::string> levels) {
  doe::Factor factor;
  factor.name = name;
  factor.kind = doe::FactorKind::kCategorical;
  factor.level_names = std::move(levels);
  return factor;
}

/// The region that satisfies a constraint such as "a + b <= 1".
inline doe::Region constrained(const std::vector<doe::Factor>& factors, const std::string& text) {
  std::vector<std::string> names;
  for (const doe::Factor& factor : factors) names.push_back(factor.name);
  return doe::Region(factors, {std::make_shared<const doe::Expression>(text, names)}, {});
}

}  // namespace doetune::tests
