// Search for space-filling points in a region, for factors of any kind.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "doe/design.h"
#include "doe/space_filling/pair_energy.h"
#include "doe/space_filling/search.h"

namespace doetune::doe {

/// The search problem: n points of the unit cube.
struct SpaceFillingTask {
  SpaceFillingCriterion criterion = SpaceFillingCriterion::kMaxPro;
  std::vector<Column> columns;
  Eigen::MatrixXd settings;  ///< n x k: the initial values of each column, to be permuted
  Eigen::MatrixXd fixed;     ///< m x k existing points; may be empty

  /// Whether points may take any usable setting. Otherwise columns stay permutations of `settings`
  /// (a Latin hypercube).
  bool free = false;

  /// Columns whose settings may finally leave the Latin hypercube to improve the criterion.
  std::vector<int> polished;

  /// The usable setting of a column nearest to u, or the one that a uniform number u maps to.
  /// Required if points are free or polished.
  std::function<double(int column, double u, bool nearest)> usable;

  /// Whether a point is allowed; empty: all are. If given, `pool` holds allowed points (one per
  /// row, at least 1), from which a search starts.
  std::function<bool(const Eigen::VectorXd& point)> allows;
  Eigen::MatrixXd pool;

  /// Designs (all points, the existing ones first) that this accepts go before all others; may be
  /// empty.
  std::function<bool(const Eigen::MatrixXd& points)> prefers;
};

struct Filled {
  Eigen::MatrixXd points;  ///< n x k
  SearchReport search;
};

/// Simulated annealing by swaps of two points' settings in a column and, where columns are free, by
/// new settings of points that are not fixed. Annealings run in rounds of eight; each round is
/// twice as long as the one before. The result is the same for any number of threads. With MaxPro
/// no move takes a setting of a continuous column that another point has, where the criterion is
/// infinite.
Filled fill_space(const SpaceFillingTask& task, const SearchEffort& effort);

}  // namespace doetune::doe
