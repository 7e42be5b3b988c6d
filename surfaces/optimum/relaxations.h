// What each limit costs where not all can be met.
#pragma once

#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// One limit given way: the settings that meet all other limits best and, among those, come nearest
/// to this one.
struct Relaxation {
  std::string name;       ///< the response whose limit gives way
  bool feasible = false;  ///< all other limits can be met together
  double reachable = 0;   ///< the response there: a limit at this value would be met
  Candidate candidate;    ///< judged by the goals as they were asked for
};

/// One a limit that counts, in the order of the responses; ramps are left aside. Throws like
/// find_optimum.
std::vector<Relaxation> relaxations(const OptimumRequest& request);

}  // namespace doetune::surfaces
