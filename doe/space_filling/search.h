// What the searches for space-filling designs have in common.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/random.h"

namespace doetune::doe {

/// How long a search goes on. The result depends on starts and seed alone unless the time runs
/// out first.
struct SearchEffort {
  std::optional<int> starts;  ///< annealings from a random start; empty: the search's own default
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

/// Uniform on 0 .. count - 1 to within 2^-53: several times as fast as RandomStream::below.
inline int pick(int count, RandomStream& random) {
  return static_cast<int>(random.uniform() * count);
}

}  // namespace doetune::doe
