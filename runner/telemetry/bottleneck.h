// Determines the bottleneck of a run, and what disturbed it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::runner {

/// Values by name: telemetry summary, responses of the run, and its numeric notes.
using Facts = std::map<std::string, double>;

struct Verdict {
  std::string bottleneck;                 ///< a name from bottleneck_rules(), or "none_found"
  std::string evidence;                   ///< one sentence with the decisive numbers
  std::vector<std::string> disturbances;  ///< one sentence each; shown as flags of the run
};

/// A rule holds if all facts that it needs are known and satisfy it.
struct BottleneckRule {
  std::string_view bottleneck;
  bool (*holds)(const Facts& facts);
  std::string (*evidence)(const Facts& facts);
  std::string_view condition;  ///< in words, for documentation
};

/// The rules in order; the first that holds decides. Causes that limit a device come before the
/// device, and a device before those that feed it.
///
/// Thresholds: 80 % for memory, as in the speed-of-light rules of NVIDIA Nsight Compute; 15 % for
/// stall time, as in the example trigger in Documentation/accounting/psi.rst of Linux; one core for
/// launches, since one thread feeds a stream. The others are choices of this project: busy is 90 %,
/// most of the time is 50 %; thermal throttling is never a steady state.
std::span<const BottleneckRule> bottleneck_rules();

Verdict find_bottleneck(const Facts& facts);

}  // namespace doetune::runner
