// Effort settings and helpers common to the searches for space-filling designs.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/random.h"

namespace doetune::doe {

/// Effort of a search. The result depends only on starts and seed unless the time runs out first.
struct SearchEffort {
  std::optional<int> starts;  ///< annealings from a random start; empty: the default of the search
  std::optional<double> time_limit_s;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all
};

/// The time since a search began.
class Stopwatch {
 public:
  explicit Stopwatch(std::optional<double> limit_s) : limit_s_(limit_s) {}

  double seconds() const { return seconds_since(begin_); }
  bool expired() const { return limit_s_ && seconds() >= *limit_s_; }

 private:
  Clock::time_point begin_ = Clock::now();
  std::optional<double> limit_s_;
};

/// Uniform on 0 .. count - 1 to within 2^-53; several times faster than RandomStream::below.
inline int pick(int count, RandomStream& random) {
  return static_cast<int>(random.uniform() * count);
}

}  // namespace doetune::doe
