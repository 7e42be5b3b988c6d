// What held a run back, and what disturbed it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::runner {

/// By name: a summary of telemetry, with the run's own responses and its notes that are numbers.
using Facts = std::map<std::string, double>;

struct Verdict {
  std::string bottleneck;  ///< a name of bottleneck_rules(), or "none_found"
  std::string evidence;    ///< one sentence with the numbers that decided
  std::vector<std::string>
      disturbances;  ///< one sentence each; a disturbed run is flagged, no more
};

/// One rule: it holds where all that it asks for is known and so.
struct BottleneckRule {
  std::string_view bottleneck;
  bool (*holds)(const Facts& facts);
  std::string (*evidence)(const Facts& facts);
  std::string_view condition;  ///< in words, for documents
};

/// In the order in which they are tried; the first that holds decides. What holds a device back
/// comes before the device, and a device before those that merely feed it.
///
/// Thresholds: 80 % for memory, as in the speed-of-light rules of NVIDIA Nsight Compute; 15 % for
/// time stalled, the example of a trigger in Documentation/accounting/psi.rst of Linux; one core
/// for launches, for one thread feeds a stream. The others are this project's own choice: 90 % is
/// busy, half of the time is most of it, and heat is never a steady state.
std::span<const BottleneckRule> bottleneck_rules();

Verdict find_bottleneck(const Facts& facts);

}  // namespace doetune::runner
