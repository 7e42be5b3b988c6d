// Search for regular fractions of minimum aberration.
//
// With one factor's column removed, EffectCounts gives for every candidate column at once how many
// words of each length it would complete, so the best exchange is found without trying any.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "doe/classical/regular_fraction.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kSeed = 20;  // arbitrary: decides which of equally good fractions is found
constexpr int kMaxWordLength = 10;   // patterns equal up to this length count as equal
constexpr double kWork = 1e8;        // additions in the search for one fraction

/// To be minimised, in lexicographic order.
using Score = std::vector<std::int64_t>;

class Search {
 public:
  Search(int factors, int basic, const std::vector<Effect>& effects)
      : factors_(factors),
        basic_(basic),
        effects_(effects),
        counts_(basic, longest(factors)),
        columns_(factors) {}

  /// Random columns around a random choice of basic factors, improved until no exchange of one
  /// column helps. An even start uses only columns of odd weight, so that all words have even
  /// length.
  Score descend(RandomStream& random, bool even) {
    even_ = even;
    start(random);
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = basic_; i < factors_; ++i) moved = improve(order_[i]) || moved;
    }
    Score total{counts_.of(0, 2), conflicts()};
    for (int j = 3; j <= counts_.longest(); ++j) total.push_back(counts_.of(0, j));
    return total;
  }

  const std::vector<ColumnBits>& columns() const { return columns_; }

  static int longest(int factors) {
    return std::max(2, factors <= 2 * kMaxWordLength ? factors : kMaxWordLength);
  }

 private:
  bool allowed(ColumnBits column) const { return !even_ || std::popcount(column) % 2 == 1; }

  void start(RandomStream& random) {
    counts_ = EffectCounts(basic_, counts_.longest());
    order_ = random_permutation(factors_, random);
    for (int i = 0; i < factors_; ++i) {
      ColumnBits column = i < basic_ ? ColumnBits{1} << i : 0;
      while (column == 0 || !allowed(column)) {
        column = static_cast<ColumnBits>(random.below(std::uint64_t{1} << basic_));
      }
      columns_[order_[i]] = column;
      counts_.insert(column);
    }
  }

  ColumnBits column_of(const Effect& effect) const {
    ColumnBits product = 0;
    for (const int factor : effect) product ^= columns_[factor];
    return product;
  }

  /// Number of pairs, among the effects and the mean, that share a column.
  std::int64_t conflicts() const {
    std::vector<std::int64_t> used(std::size_t{1} << basic_, 0);
    used[0] = 1;
    std::int64_t pairs = 0;
    for (const Effect& effect : effects_) pairs += used[column_of(effect)]++;
    return pairs;
  }

  /// For every possible column of the factor, the conflicts of its effects with other effects.
  std::vector<std::int64_t> conflicts_of(int factor) const {
    std::vector<std::int64_t> used(std::size_t{1} << basic_, 0);
    used[0] = 1;
    std::vector<ColumnBits> rests;
    for (const Effect& effect : effects_) {
      const bool has = std::find(effect.begin(), effect.end(), factor) != effect.end();
      if (has) {
        rests.push_back(column_of(effect) ^ columns_[factor]);
      } else {
        ++used[column_of(effect)];
      }
    }
    std::vector<std::int64_t> conflicts(used.size(), 0);
    for (const ColumnBits rest : rests) {
      for (std::size_t v = 0; v < conflicts.size(); ++v) conflicts[v] += used[v ^ rest];
    }
    return conflicts;
  }

  /// Gives the factor its best column; false if it already has it.
  bool improve(int factor) {
    counts_.remove(columns_[factor]);
    const std::vector<std::int64_t> conflicts = conflicts_of(factor);
    const auto better = [&](ColumnBits a, ColumnBits b) {
      if (counts_.of(a, 1) != counts_.of(b, 1)) return counts_.of(a, 1) < counts_.of(b, 1);
      if (conflicts[a] != conflicts[b]) return conflicts[a] < conflicts[b];
      for (int j = 2; j < counts_.longest(); ++j) {
        if (counts_.of(a, j) != counts_.of(b, j)) return counts_.of(a, j) < counts_.of(b, j);
      }
      return false;
    };
    ColumnBits best = columns_[factor];
    for (ColumnBits column = 1; column < ColumnBits{1} << basic_; ++column) {
      if (allowed(column) && better(column, best)) best = column;
    }
    const bool moved = best != columns_[factor];
    columns_[factor] = best;
    counts_.insert(best);
    return moved;
  }

  int factors_;
  int basic_;
  const std::vector<Effect>& effects_;
  EffectCounts counts_;
  std::vector<ColumnBits> columns_;
  std::vector<int> order_;
  bool even_ = false;
};

/// The same fraction, with the first independent factors as basic factors.
RegularFraction in_first_factors(const std::vector<ColumnBits>& columns, int basic) {
  RegularFraction fraction{basic, {}, std::vector<int>(columns.size(), 1)};
  std::vector<std::pair<ColumnBits, ColumnBits>> reduced;  // a column, and the product of basic
                                                           // factors it equals
  for (ColumnBits rest : columns) {
    ColumnBits product = 0;
    for (const auto& [column, factors] : reduced) {
      if ((rest & std::bit_floor(column)) == 0) continue;
      rest ^= column;
      product ^= factors;
    }
    if (rest != 0) {
      const ColumnBits next = ColumnBits{1} << reduced.size();
      reduced.emplace_back(rest, product ^ next);
      product = next;
    }
    fraction.columns.push_back(product);
  }
  return fraction;
}

int start_count(int factors, int basic) {
  const double descent = 5.0 * factors * std::ldexp(Search::longest(factors), basic);
  return static_cast<int>(std::clamp(kWork / descent, 4.0, 1000.0));
}

}  // namespace

std::optional<RegularFraction> minimum_aberration(int factors, int basic,
                                                  const std::vector<Effect>& effects) {
  if (factors >= std::int64_t{1} << basic) return std::nullopt;
  constexpr int kEnoughHits = 10;
  Search search(factors, basic, effects);
  Score best;
  std::vector<ColumnBits> columns;
  int hits = 0;
  const int starts = factors == basic ? 1 : start_count(factors, basic);
  for (int start = 0; start < starts && hits < kEnoughHits; ++start) {
    RandomStream random(kSeed, static_cast<std::uint64_t>(start));
    const bool even = start % 2 == 1 && factors <= 1 << (basic - 1);
    const Score score = search.descend(random, even);
    if (best.empty() || score < best) {
      best = score;
      columns = search.columns();
      hits = 0;
    }
    if (score == best && !even) ++hits;  // even starts nearly always end at the same score
  }
  return in_first_factors(columns, basic);
}

}  // namespace doetune::doe
