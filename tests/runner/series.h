// Series to measure: what a program's times may look like.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/random.h"
#include "tests/surfaces/random_normal.h"

namespace doetune::tests {

/// Mean 1, standard deviation `spread`; neighbours are correlated by `correlation`.
inline std::vector<double> autoregression(std::size_t count, double correlation, double spread,
                                          RandomStream& random) {
  std::vector<double> values;
  double state = random_normal(random);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(1 + spread * state);
    state = correlation * state + std::sqrt(1 - correlation * correlation) * random_normal(random);
  }
  return values;
}

/// The part of `repetitions` in which something happens, each with random numbers of its own.
template <class Happens>
double rate(int repetitions, Happens happens) {
  int count = 0;
  for (int i = 0; i < repetitions; ++i) {
    RandomStream random(7, static_cast<std::uint64_t>(i));
    count += happens(random) ? 1 : 0;
  }
  return static_cast<double>(count) / repetitions;
}

}  // namespace doetune::tests
