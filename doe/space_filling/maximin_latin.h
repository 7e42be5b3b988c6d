// Maximin Latin hypercube designs.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "doe/design.h"
#include "doe/space_filling/search.h"

namespace doetune::doe {

struct MaximinLatin {
  Eigen::MatrixXi levels;    ///< n x k on 0 .. n - 1
  int squared_distance = 0;  ///< the smallest between two points
  SearchReport search;       ///< `best` in units of the cube: sqrt(squared_distance) / (n - 1)
};

/// Simulated annealing by swaps of two levels in a column, with the energy of LatinDistances.
/// Annealings run in rounds of eight; each round is twice as long as the one before and aims just
/// above the best distance so far. Every second annealing is restricted to symmetric hypercubes, a
/// smaller space that contains many of the best. Good lattices are tried first.
/// runs >= 2, factors >= 2.
///
/// Hypercubes that `prefers` accepts go before all others. Symmetric ones are left out where a
/// random one is not accepted: n mirrored pairs determine no more than n even columns of a model.
MaximinLatin maximin_latin(int runs, int factors, const SearchEffort& effort,
                           const std::function<bool(const Eigen::MatrixXi&)>& prefers = {});

}  // namespace doetune::doe
