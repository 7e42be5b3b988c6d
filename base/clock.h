// Monotonic time for durations, and UTC time for records.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace doetune {

using Clock = std::chrono::steady_clock;

/// Monotonic time in seconds since an arbitrary origin, by Clock.
inline double monotonic_s() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Seconds since `start`.
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds the machine has been suspended since boot; monotonic_s() does not include them.
double machine_suspended_s();

/// Milliseconds, rounded up, as the timeout of poll().
int to_milliseconds(double seconds);

/// The current UTC time, as 2026-11-21T07:38:18.123Z.
std::string utc_now();

/// Seconds since 1970 of such a time; empty if it is none.
std::optional<double> utc_seconds(const std::string& time);

}  // namespace doetune
