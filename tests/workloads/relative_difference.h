// The relative difference of vectors, for comparing trained parameters.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <span>

namespace doetune::workloads::test {

/// The norm of the difference relative to the norm of the expected vector.
inline double relative_difference(std::span<const float> actual, std::span<const float> expected) {
  REQUIRE(actual.size() == expected.size());
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    difference += std::pow(static_cast<double>(actual[i]) - static_cast<double>(expected[i]), 2);
    size += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(difference / size);
}

}  // namespace doetune::workloads::test
