// Time: the clock that only goes forward, for durations, and the time of day, for records.
#pragma once

#include <chrono>
#include <string>

namespace doetune {

using Clock = std::chrono::steady_clock;

/// Seconds since some moment in the past, by Clock.
inline double monotonic_s() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Seconds since `start`.
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds that the machine has been suspended since it started: they are not in monotonic_s.
double machine_suspended_s();

/// Rounded up, as poll takes a time limit.
int to_milliseconds(double seconds);

/// Now, as 2026-11-21T07:38:18.123Z.
std::string utc_now();

}  // namespace doetune
