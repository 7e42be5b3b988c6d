#include "doe/classical/regular_fraction.h"

#include <algorithm>
#include <bit>
#include <set>

namespace doetune::doe {
namespace {

/// The value of a product of basic columns at a run; basic column b is 1 where bit b of the run is
/// set.
int value_at(ColumnBits column, int run) {
  const ColumnBits minus = column & ~static_cast<ColumnBits>(run);
  return std::popcount(minus) % 2 == 0 ? 1 : -1;
}

}  // namespace

ColumnBits RegularFraction::column(const Effect& effect) const {
  ColumnBits product = 0;
  for (const int factor : effect) product ^= columns[factor];
  return product;
}

int RegularFraction::sign(const Effect& effect) const {
  int product = 1;
  for (const int factor : effect) product *= signs[factor];
  return product;
}

Eigen::MatrixXd RegularFraction::runs() const {
  Eigen::MatrixXd x(run_count(), columns.size());
  for (int run = 0; run < run_count(); ++run) {
    for (std::size_t f = 0; f < columns.size(); ++f) {
      x(run, f) = signs[f] * value_at(columns[f], run);
    }
  }
  return x;
}

std::vector<std::int64_t> RegularFraction::word_lengths(int longest) const {
  EffectCounts counts(basic, longest);
  for (const ColumnBits column : columns) counts.insert(column);
  std::vector<std::int64_t> lengths;
  for (int j = 0; j <= longest; ++j) lengths.push_back(counts.of(0, j));
  return lengths;
}

std::optional<int> RegularFraction::resolution() const {
  // The minimum distance of a linear code exceeds the number of basic factors by at most one.
  const std::vector<std::int64_t> lengths =
      word_lengths(std::min(basic + 1, static_cast<int>(columns.size())));
  for (std::size_t j = 1; j < lengths.size(); ++j) {
    if (lengths[j] > 0) return static_cast<int>(j);
  }
  return std::nullopt;
}

EffectCounts::EffectCounts(int basic, int longest) {
  counts_.setZero(Eigen::Index{1} << basic, longest + 1);
  counts_(0, 0) = 1;
}

void EffectCounts::insert(ColumnBits column) {
  for (int j = longest(); j >= 1; --j) {
    for (Eigen::Index v = 0; v < counts_.rows(); ++v) counts_(v, j) += counts_(v ^ column, j - 1);
  }
}

void EffectCounts::remove(ColumnBits column) {
  for (int j = 1; j <= longest(); ++j) {
    for (Eigen::Index v = 0; v < counts_.rows(); ++v) counts_(v, j) -= counts_(v ^ column, j - 1);
  }
}

std::vector<Effect> two_level_effects(const Model& model, int factors) {
  std::vector<Effect> effects;
  for (const Term& term : model.terms()) {
    Effect effect;
    for (std::size_t f = 0; f < term.powers.size(); ++f) {
      if (term.powers[f] == 1) effect.push_back(static_cast<int>(f));
    }
    if (!effect.empty() && term.order() == static_cast<int>(effect.size())) {
      effects.push_back(std::move(effect));
    }
  }
  if (!model.terms().empty()) return effects;
  for (int f = 0; f < factors; ++f) effects.push_back({f});
  return effects;
}

bool determines(const RegularFraction& fraction, const std::vector<Effect>& effects) {
  std::set<ColumnBits> seen{0};
  return std::all_of(effects.begin(), effects.end(), [&](const Effect& effect) {
    return seen.insert(fraction.column(effect)).second;
  });
}

std::vector<ColumnBits> products_of(const std::vector<ColumnBits>& columns) {
  std::vector<ColumnBits> products;
  for (const ColumnBits column : columns) {
    const std::size_t before = products.size();
    products.push_back(column);
    for (std::size_t i = 0; i < before; ++i) products.push_back(products[i] ^ column);
  }
  return products;
}

std::vector<int> blocks_of_runs(const RegularFraction& fraction,
                                const std::vector<ColumnBits>& columns) {
  std::vector<int> blocks(fraction.run_count(), 1);
  for (int run = 0; run < fraction.run_count(); ++run) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (value_at(columns[i], run) > 0) blocks[run] += 1 << i;
    }
  }
  return blocks;
}

}  // namespace doetune::doe
