#include "base/clock.h"

#include <fmt/chrono.h>

#include <time.h>

#include <algorithm>
#include <cmath>

namespace doetune {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double machine_suspended_s() { return seconds_of(CLOCK_BOOTTIME) - seconds_of(CLOCK_MONOTONIC); }

int to_milliseconds(double seconds) {
  return static_cast<int>(std::clamp(std::ceil(seconds * 1000), 0.0, 1e9));
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms.count() % 1000);
}

std::optional<double> utc_seconds(const std::string& time) {
  std::tm parts{};
  const char* rest = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  double fraction = 0;
  if (*rest == '.') {
    double place = 0.1;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, place /= 10)
      fraction += place * (*rest - '0');
  }
  if (*rest != 'Z' || rest[1] != '\0') return std::nullopt;
  return static_cast<double>(::timegm(&parts)) + fraction;
}

}  // namespace doetune
