// Time that only goes forward.
#pragma once

#include <chrono>

namespace doetune::runner {

/// Seconds since some moment in the past.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace doetune::runner
