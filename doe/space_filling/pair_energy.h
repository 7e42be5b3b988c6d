// A space-filling criterion as a sum over pairs of points, updated move by move.
#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

#include "doe/space_filling/criteria.h"

namespace doetune::doe {

enum class SpaceFillingCriterion { kMaximin, kCenteredL2, kMaxPro };

/// New settings for one or two points in one column. With two, the points swap theirs.
struct PointMove {
  int column = 0;
  int row = 0;
  double setting = 0;
  int partner = -1;            ///< the other row, -1: none
  double partner_setting = 0;  ///< of the other row
};

/// The sum S behind a criterion, from cached terms of the pairs, so that a move costs O(n):
///
///   maximin      S = sum_{i<j} (d_ij^2)^-16, phi_p^p for p = 32
///   MaxPro       S = sum_{i<j} prod_l (1/6) / t_l(i, j); the 1/6, the mean of (x - y)^2, only
///                keeps products within the range of double
///   centred L2   S = n^2 CD2^2
///
/// The first rows may be fixed: they never move, and pairs among them, the same for every design,
/// do not count (centred L2 apart, which is that of all points). Distances of 0, which a search
/// may pass through, count as (1 / (4 n))^2.
class PairEnergy {
 public:
  PairEnergy(SpaceFillingCriterion criterion, UnitPoints points, int fixed);

  const UnitPoints& points() const { return points_; }
  int fixed() const { return fixed_; }
  double total() const { return total_; }

  /// The scale-free value to be made small: ln S / r, of which a change of 0.01 is about one
  /// percent of phi_p, the root of psi, and CD2 (r = 32, 2 k and 2).
  double value() const { return value_of(total_); }

  /// The criterion in its own units, of the pairs that count: the smallest distance, psi of MaxPro,
  /// or CD2.
  double criterion() const;

  /// The value after a move, which must concern rows that are not fixed. Where it is far less than
  /// the value now, rounding leaves no more than that; value() is right once the move is accepted.
  double value_after(const PointMove& move);

  /// Makes the move last evaluated.
  void accept();

  /// Computes all terms afresh: rounding errors of many moves do not add up.
  void refresh();

 private:
  double value_of(double total) const;
  Eigen::ArrayXd column_terms(int column, double setting) const;
  void moved_terms(int row, int column, double setting, Eigen::ArrayXd& terms) const;
  double sum() const;
  double energies(int row, const Eigen::Ref<const Eigen::ArrayXd>& terms) const;
  double self_energy(int row) const;

  SpaceFillingCriterion criterion_;
  UnitPoints points_;
  int fixed_;
  double floor_;           // of a squared distance
  Eigen::ArrayXXd terms_;  // n x n: d_ij^2, or the product over columns
  double total_ = 0;

  PointMove move_;
  double total_after_ = 0;
  Eigen::ArrayXd row_terms_;
  Eigen::ArrayXd partner_terms_;
};

}  // namespace doetune::doe
