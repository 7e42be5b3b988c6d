// Random series for tests of measurements, and the rate of an event over repetitions.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/random.h"
#include "tests/surfaces/random_normal.h"

namespace doetune::tests {

/// First-order autoregression with mean 1 and standard deviation `spread`.
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

/// The fraction of `repetitions`, each with its own random numbers, in which an event happens.
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
