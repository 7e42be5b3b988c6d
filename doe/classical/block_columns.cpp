// Selects the products of factors to confound with blocks.
#include <algorithm>

#include "base/random.h"
#include "doe/classical/regular_fraction.h"

namespace doetune::doe {
namespace {

constexpr int kStarts = 20;
constexpr int kMaxFactorsCompared = 6;  // confounding longer products is harmless

/// Numbers of effects confounded with blocks: main effects, required effects, two-factor
/// interactions, three-factor interactions, ... Compared lexicographically; smaller is better.
using BlockScore = std::vector<std::int64_t>;

class BlockSearch {
 public:
  BlockSearch(const RegularFraction& fraction, const std::vector<Effect>& effects)
      : columns_(ColumnBits{1} << fraction.basic),
        counts_(fraction.basic,
                std::min(static_cast<int>(fraction.columns.size()), kMaxFactorsCompared)),
        asked_(columns_, 0) {
    for (const ColumnBits column : fraction.columns) counts_.insert(column);
    for (const Effect& effect : effects) ++asked_[fraction.column(effect)];
  }

  /// Independent columns, improved one at a time until no single replacement helps.
  std::vector<ColumnBits> descend(int q, RandomStream& random) const {
    std::vector<ColumnBits> chosen;
    while (static_cast<int>(chosen.size()) < q) {
      chosen.push_back(best_beside(products_of(chosen), std::nullopt, random));
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (ColumnBits& column : chosen) {
        std::vector<ColumnBits> others;
        for (const ColumnBits other : chosen) {
          if (other != column) others.push_back(other);
        }
        const ColumnBits better = best_beside(products_of(others), column, random);
        moved = moved || better != column;
        column = better;
      }
    }
    return chosen;
  }

  BlockScore score_of(const std::vector<ColumnBits>& products) const {
    BlockScore sum(static_cast<std::size_t>(counts_.longest()) + 1, 0);
    for (const ColumnBits product : products) {
      sum[0] += counts_.of(product, 1);
      sum[1] += asked_[product];
      for (int j = 2; j <= counts_.longest(); ++j) sum[j] += counts_.of(product, j);
    }
    return sum;
  }

 private:
  /// The column, independent of the others, that adds the smallest score; `present` unless another
  /// is strictly better.
  ColumnBits best_beside(std::vector<ColumnBits> others, std::optional<ColumnBits> present,
                         RandomStream& random) const {
    others.push_back(0);
    const auto added = [&](ColumnBits column) {
      std::vector<ColumnBits> products = others;
      for (ColumnBits& product : products) product ^= column;
      return score_of(products);
    };
    BlockScore least = present ? added(*present) : BlockScore{};
    const auto shift = static_cast<ColumnBits>(random.below(columns_));
    for (ColumnBits i = 0; i < columns_; ++i) {
      const ColumnBits column = i ^ shift;
      if (std::find(others.begin(), others.end(), column) != others.end()) continue;
      BlockScore score = added(column);
      if (present && !(score < least)) continue;
      present = column;
      least = std::move(score);
    }
    return *present;
  }

  ColumnBits columns_;
  EffectCounts counts_;
  BlockScore asked_;
};

}  // namespace

std::optional<std::vector<ColumnBits>> block_columns(const RegularFraction& fraction, int q,
                                                     const std::vector<Effect>& effects) {
  if (q >= fraction.basic) return std::nullopt;
  const BlockSearch search(fraction, effects);
  std::vector<ColumnBits> best;
  BlockScore least;
  for (int start = 0; start < kStarts; ++start) {
    RandomStream random(0, static_cast<std::uint64_t>(start));
    std::vector<ColumnBits> columns = search.descend(q, random);
    BlockScore score = search.score_of(products_of(columns));
    if (!best.empty() && !(score < least)) continue;
    best = std::move(columns);
    least = std::move(score);
  }
  if (least.front() > 0) return std::nullopt;
  return best;
}

}  // namespace doetune::doe
