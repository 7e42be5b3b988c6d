// Orthogonal arrays of strength 2: in any two columns every pair of levels is equally frequent.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "base/random.h"

namespace doetune::doe {

/// n x k, entries 0 .. s - 1.
struct OrthogonalArray {
  Eigen::MatrixXd levels;
  std::string source;  ///< publication of the construction; empty for one factor
};

/// The largest array with at most max_runs runs, for factors with `levels` levels each, s >= 2.
/// Empty if no construction is available. Available, with s a power of the prime p, are
///
///   s q' runs, q' >= s a power of p: all (s q' - 1) / (s - 1) factors where q' is a power of s
///       (Rao 1947; Bose & Bush 1952)
///   2 s q' runs, p odd: 2 (s q' - 1) / (s - 1) - 1 factors where q' is a power of s
///       (Addelman & Kempthorne 1961)
///   s = 2: n runs, a multiple of 4 to 112: n - 1 factors (Plackett & Burman 1946)
///   s no such power: s^2 runs, one factor more than the least prime in s (Euler's squares)
///
/// and several of these stacked, each after the first with its levels permuted at random.
std::optional<OrthogonalArray> orthogonal_array(int factors, int levels, int max_runs,
                                                RandomStream& random);

}  // namespace doetune::doe
