// The search for points that fill a region, of factors of any kind.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "doe/design.h"
#include "doe/space_filling/pair_energy.h"
#include "doe/space_filling/search.h"

namespace doetune::doe {

/// What is searched for: n points of the unit cube.
struct SpaceFillingTask {
  SpaceFillingCriterion criterion = SpaceFillingCriterion::kMaxPro;
  std::vector<Column> columns;
  Eigen::MatrixXd settings;  ///< n x k: what each column is a permutation of, at the start
  Eigen::MatrixXd fixed;     ///< m x k points that are there already; may be empty

  /// Whether points may take any usable setting. Otherwise columns stay permutations of `settings`
  /// (a Latin hypercube).
  bool free = false;

  /// Columns whose settings may leave the Latin hypercube at the end for better ones.
  std::vector<int> polished;

  /// The usable setting of a column nearest to a number, or to which a uniform number belongs.
  /// Needed where points are free or polished.
  std::function<double(int column, double u, bool nearest)> usable;

  /// Whether a point is allowed; empty: all are. Where it is given, `pool` holds allowed points
  /// (one a row, at least 1), from which a search starts.
  std::function<bool(const Eigen::VectorXd& point)> allows;
  Eigen::MatrixXd pool;
};

struct Filled {
  Eigen::MatrixXd points;  ///< n x k
  SearchReport search;
};

/// Simulated annealing by swaps of two points' settings in a column, and where columns are free by
/// new settings, of the points that are not fixed. Every round of eight annealings is twice as long
/// as the one before. The result is the same for any number of threads.
Filled fill_space(const SpaceFillingTask& task, const SearchEffort& effort);

}  // namespace doetune::doe
