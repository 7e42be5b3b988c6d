// What a launcher reports, waited for.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "runner/launchers/launcher.h"

namespace doetune::tests {

constexpr double kHang_s = 60;  ///< nothing takes so long that does not hang

/// The next events; none if there are none in that time.
inline std::vector<runner::LauncherEvent> wait_for(runner::Launcher& launcher,
                                                   double limit_s = kHang_s) {
  const double until_s = monotonic_s() + limit_s;
  while (monotonic_s() < until_s) {
    const auto events = launcher.wait(0.05, -1);
    if (events && !events->empty()) return *events;
  }
  return {};
}

/// Waits until a condition holds, without an attempt ending.
inline void wait_until(runner::Launcher& launcher, const std::function<bool()>& holds) {
  const double until_s = monotonic_s() + kHang_s;
  while (!holds() && monotonic_s() < until_s) CHECK(wait_for(launcher, 0.05).empty());
}

}  // namespace doetune::tests
