#include <algorithm>
#include <cmath>

#include "doe/classical/regular_fraction.h"

namespace doetune::doe {
namespace {

/// Whether 2^basic runs can have the resolution by the Rao (1947) bound for orthogonal arrays of
/// strength resolution - 1.
bool has_room(int factors, int basic, int resolution) {
  const int strength = std::min(resolution, factors + 1) - 1;
  const int chosen_from = strength % 2 == 0 ? factors : factors - 1;
  double products = 1;
  double needed = 1;
  for (int i = 1; i <= strength / 2; ++i) {
    products *= static_cast<double>(chosen_from - i + 1) / i;
    needed += products;
  }
  return needed <= std::ldexp(1, basic - strength % 2);
}

}  // namespace

std::optional<std::vector<ColumnBits>> clear_block_columns(const RegularFraction& fraction, int q,
                                                           const std::vector<Effect>& effects) {
  if (q == 0) return std::vector<ColumnBits>{};
  auto columns = block_columns(fraction, q, effects);
  if (!columns) return std::nullopt;
  const std::vector<ColumnBits> confounded = products_of(*columns);
  for (const Effect& effect : effects) {
    const ColumnBits column = fraction.column(effect);
    if (std::find(confounded.begin(), confounded.end(), column) != confounded.end()) {
      return std::nullopt;
    }
  }
  return columns;
}

std::optional<RegularFraction> smallest_fraction(int factors, int resolution, int q,
                                                 const std::vector<Effect>& effects) {
  for (int basic = 1; basic <= std::min(factors, kMaxBasicFactors); ++basic) {
    if (effects.size() >= std::size_t{1} << basic) continue;
    if (basic < factors && !has_room(factors, basic, resolution)) continue;
    auto fraction = minimum_aberration(factors, basic, effects);
    if (!fraction || !determines(*fraction, effects)) continue;
    if (fraction->resolution().value_or(resolution) < resolution) continue;
    if (clear_block_columns(*fraction, q, effects)) return fraction;
  }
  return std::nullopt;
}

}  // namespace doetune::doe
