// Regular fractions of two-level factorials, and the search for the best one.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "doe/model.h"

namespace doetune::doe {

/// A column of a fraction of 2^m runs: bit b is set if basic column b is in the product. 0 is the
/// column of ones; the product of columns is their exclusive or.
using ColumnBits = std::uint32_t;

/// Limits fractions to 2^16 runs.
constexpr int kMaxBasicFactors = 16;

/// A product of factors (indices, ascending): main effect, two-factor interaction, ...
using Effect = std::vector<int>;

/// A fraction 2^(k-p) with m = k - p basic factors: factor f is signs[f] times the product of the
/// basic columns in columns[f].
struct RegularFraction {
  int basic = 0;  ///< m: 2^m runs
  std::vector<ColumnBits> columns;
  std::vector<int> signs;  ///< -1 or 1

  int run_count() const { return 1 << basic; }
  ColumnBits column(const Effect& effect) const;
  int sign(const Effect& effect) const;

  /// 2^m x k matrix of -1 and 1, the first basic column changing fastest.
  Eigen::MatrixXd runs() const;

  /// Entry j is the number of products of j factors that are constant over the runs, for
  /// j = 0 .. longest (Fries & Hunter 1980: the word-length pattern).
  std::vector<std::int64_t> word_lengths(int longest) const;

  /// The length of the shortest word; empty for the full factorial.
  std::optional<int> resolution() const;
};

/// Numbers of products of j factors, j = 0 .. longest, for each column: the coefficients of prod_f
/// (1 + t X^column(f)) in the group algebra of the columns.
class EffectCounts {
 public:
  EffectCounts(int basic, int longest);

  void insert(ColumnBits column);
  void remove(ColumnBits column);  ///< must have been inserted
  std::int64_t of(ColumnBits column, int factors) const { return counts_(column, factors); }
  int longest() const { return static_cast<int>(counts_.cols()) - 1; }

 private:
  Eigen::Array<std::int64_t, Eigen::Dynamic, Eigen::Dynamic> counts_;  ///< 2^m x (longest + 1)
};

/// The effects of a model that a two-level design can estimate: its terms without powers and
/// without "1"; all main effects if the model has no terms.
std::vector<Effect> two_level_effects(const Model& model, int factors);

/// A fraction of k factors in 2^m runs, k >= m, in which the fewest effects share a column, and
/// among those one of minimum aberration: its word-length pattern (A3, A4, ...) is
/// lexicographically smallest. Found by column exchange from several random starts, so the minimum
/// is not proven; the tests compare it with published patterns. Empty if k factors have no distinct
/// columns (k >= 2^m).
/// Sources: criterion, Fries & Hunter (1980); requirement set, Franklin & Bailey (1977).
std::optional<RegularFraction> minimum_aberration(int factors, int basic,
                                                  const std::vector<Effect>& effects);

/// Whether all effects and the mean have distinct columns.
bool determines(const RegularFraction& fraction, const std::vector<Effect>& effects);

/// q columns whose 2^q - 1 products are confounded with the 2^q blocks. They confound no main
/// effect, and as few as possible of the effects, then of two-factor interactions, then of longer
/// ones. Empty if main effects cannot be kept clear.
std::optional<std::vector<ColumnBits>> block_columns(const RegularFraction& fraction, int q,
                                                     const std::vector<Effect>& effects);

/// The same, but empty if any effect would be confounded with blocks.
std::optional<std::vector<ColumnBits>> clear_block_columns(const RegularFraction& fraction, int q,
                                                           const std::vector<Effect>& effects);

/// The smallest fraction that has at least this resolution (the full factorial has any), determines
/// the effects, and has 2^q blocks that confound none of them. Empty if the search finds none with
/// at most 2^16 runs.
std::optional<RegularFraction> smallest_fraction(int factors, int resolution, int q,
                                                 const std::vector<Effect>& effects);

/// All products of one or more of the columns.
std::vector<ColumnBits> products_of(const std::vector<ColumnBits>& columns);

/// The block of every run of the fraction, from 1.
std::vector<int> blocks_of_runs(const RegularFraction& fraction,
                                const std::vector<ColumnBits>& columns);

}  // namespace doetune::doe
