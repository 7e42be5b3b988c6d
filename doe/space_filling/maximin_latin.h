// Latin hypercubes whose nearest points are as far apart as can be found.
#pragma once

#include <Eigen/Core>

#include "doe/design.h"
#include "doe/space_filling/search.h"

namespace doetune::doe {

struct MaximinLatin {
  Eigen::MatrixXi levels;    ///< n x k on 0 .. n - 1
  int squared_distance = 0;  ///< the smallest of two points
  SearchReport search;       ///< `best` in units of the cube: sqrt(squared_distance) / (n - 1)
};

/// Simulated annealing by swaps of two levels in a column, with the energy of LatinDistances. The
/// annealings run in rounds of eight, each round twice as long as the one before and aiming just
/// above the best distance so far; every second one keeps to symmetric hypercubes, whose space is
/// smaller and holds many of the best. Good lattices are tried first.
/// runs >= 2, factors >= 2.
MaximinLatin maximin_latin(int runs, int factors, const SearchEffort& effort);

}  // namespace doetune::doe
