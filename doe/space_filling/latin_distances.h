// A Latin hypercube and its squared distances between points, updated move by move.
#pragma once

#include <Eigen/Core>

#include "base/random.h"

namespace doetune::doe {

/// An n x k Latin hypercube on the levels 0 .. n - 1: every column is a permutation. Distances are
/// squared Euclidean and exact. The energy for a target distance A is
///
///   E = sum_{i<j} max(0, A - d_ij),
///
/// 0 if and only if no two points are closer than A. Only pairs that are too close count, so the
/// search focuses on the pairs that limit the minimum.
class LatinDistances {
 public:
  /// Columns must be permutations of 0 .. n - 1. n is at most 2000 and k n^2 under 2^31.
  explicit LatinDistances(Eigen::MatrixXi levels);

  const Eigen::MatrixXi& levels() const { return levels_; }
  int runs() const { return static_cast<int>(levels_.rows()); }
  int factors() const { return static_cast<int>(levels_.cols()); }
  int distance(int i, int j) const { return distances_(i, j); }
  int min_distance() const { return distances_.minCoeff(); }

  void aim_at(int distance) { aim_ = distance; }
  int aim() const { return aim_; }
  std::int64_t energy() const;

  /// The change of the energy if rows a and b swapped their levels in a column. O(n).
  int swap_change(int a, int b, int column) const;

  void swap(int a, int b, int column);

 private:
  Eigen::MatrixXi levels_;     // n x k
  Eigen::MatrixXi distances_;  // n x n, the diagonal larger than any distance
  int aim_ = 0;
};

/// Every column a random permutation.
Eigen::MatrixXi random_latin(int runs, int factors, RandomStream& random);

/// A random Latin hypercube whose rows 2 i and 2 i + 1 are reflections of each other in the centre;
/// for odd n the last row is the centre. Source: Ye, Li & Sudjianto (2000).
Eigen::MatrixXi random_symmetric_latin(int runs, int factors, RandomStream& random);

/// The best of `tries` good lattices, x_ic = (i h_c mod (n + 1)) - 1 with h_1 = 1 and the other h_c
/// drawn from the integers coprime to n + 1. Empty if only 1 is coprime. Source: Fang & Wang
/// (1994), Number-Theoretic Methods in Statistics, ch. 1.
Eigen::MatrixXi best_lattice(int runs, int factors, int tries, RandomStream& random);

/// An upper bound on the minimum squared distance of an n x k Latin hypercube: floor(n (n + 1) k /
/// 6), the mean over all pairs. Source: van Dam, Rennen & Husslage (2009).
int latin_distance_bound(int runs, int factors);

}  // namespace doetune::doe
