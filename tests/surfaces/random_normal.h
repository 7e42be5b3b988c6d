// Standard normal random numbers for simulations.
#pragma once

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace doetune::tests {

/// Source: Box & Muller (1958), Ann. Math. Statist. 29, 610.
inline double random_normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

}  // namespace doetune::tests
