// A space-filling criterion as a sum over pairs of points, updated move by move.
#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

#include "doe/space_filling/criteria.h"

namespace doetune::doe {

enum class SpaceFillingCriterion { kMaximin, kCenteredL2, kMaxPro };

/// New settings for one or two points in one column; two points swap theirs.
struct PointMove {
  int column = 0;
  int row = 0;
  double setting = 0;
  int partner = -1;            ///< the other row, -1: none
  double partner_setting = 0;  ///< of the other row
};

/// The sum S of a criterion over pairs, from cached terms, so that a move costs O(n):
///
///   maximin      S = sum_{i<j} (d_ij^2)^-16, phi_p^p for p = 32
///   MaxPro       S = sum_{i<j} prod_l (1/6) / t_l(i, j); the 1/6, the mean of (x - y)^2, only
///                keeps products within the range of double
///   centred L2   S = n^2 CD2^2
///
/// The first rows may be fixed: they never move, and pairs among them, which are the same for every
/// design, do not count (except in centred L2, which covers all points). Distances of 0, through
/// which a search may pass, count as (1 / (4 n))^2.
class PairEnergy {
 public:
  PairEnergy(SpaceFillingCriterion criterion, UnitPoints points, int fixed);

  const UnitPoints& points() const { return points_; }
  int fixed() const { return fixed_; }
  double total() const { return total_; }

  /// The scale-free value to be minimised: ln S / r; a change of 0.01 is about one percent of
  /// phi_p, the root of psi, and CD2 (r = 32, 2 k and 2).
  double value() const { return value_of(total_); }

  /// The criterion in its own units, for the pairs that count: the smallest distance, psi of
  /// MaxPro, or CD2.
  double criterion() const;

  /// The value after a move, which must concern rows that are not fixed. If it is far below the
  /// current value, rounding makes it inaccurate; value() is exact once the move is accepted.
  double value_after(const PointMove& move);

  /// Makes the move last evaluated.
  void accept();

  /// Recomputes all terms, so that rounding errors of many moves do not accumulate.
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
  double floor_;           // lower limit of a squared distance
  Eigen::ArrayXXd terms_;  // n x n: d_ij^2, or the product over columns
  double total_ = 0;

  PointMove move_;
  double total_after_ = 0;
  Eigen::ArrayXd row_terms_;
  Eigen::ArrayXd partner_terms_;
};

}  // namespace doetune::doe
