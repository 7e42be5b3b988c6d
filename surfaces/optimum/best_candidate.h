// The best settings alone, in a fraction of the time of find_optimum.
#pragma once

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// find_optimum(request).best. Throws like it.
Candidate best_candidate(const OptimumRequest& request);

}  // namespace doetune::surfaces
