// The cost of each limit if not all can be met.
#pragma once

#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// One limit relaxed: the settings that meet all other limits best and, among those, come closest
/// to this one.
struct Relaxation {
  std::string name;       ///< the response whose limit is relaxed
  bool feasible = false;  ///< all other limits can be met simultaneously
  double reachable = 0;   ///< the response there: a limit at this value would be met
  Candidate candidate;    ///< assessed by the original goals
};

/// One per limit that counts, in the order of the responses; ramps are ignored. Throws like
/// find_optimum.
std::vector<Relaxation> relaxations(const OptimumRequest& request);

}  // namespace doetune::surfaces
