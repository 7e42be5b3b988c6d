// Arrival times of an open loop.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/random.h"

namespace doetune::workloads {

/// A Poisson process: the times between arrivals are independent and exponential with mean 1 /
/// rate. Nothing but the seed and the stream determines them, least of all the server's answers.
class PoissonArrivals {
 public:
  /// `rate` per second, above 0; the process begins at `start_s`.
  PoissonArrivals(double rate, double start_s, std::uint64_t seed, std::uint64_t stream)
      : rate_(rate), time_s_(start_s), random_(seed, stream) {}

  /// The next arrival, in seconds.
  double next() { return time_s_ -= std::log(1 - random_.uniform()) / rate_; }

 private:
  double rate_;
  double time_s_;
  RandomStream random_;
};

}  // namespace doetune::workloads
