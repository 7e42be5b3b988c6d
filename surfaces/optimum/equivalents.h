// Settings that the runs cannot tell from the best.
#pragma once

#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/comparison.h"

namespace doetune::surfaces {

struct Equivalent {
  Candidate candidate;
  std::vector<Gain> against_best;  ///< every response: what it costs and what it saves
};

/// Settings that are no worse than the best for certain: in no response with a ramp does the best's
/// advantage exceed t times the standard error of the difference (both means err together; all
/// ramps hold jointly by Bonferroni at request.confidence), and no limits are missed by more than
/// the best misses them. Up to 5, as far from the best and from each other as can be, at least a
/// quarter of a factor's range or a level, the most desirable first; empty without a ramp that has
/// an error estimate. Of more than 200,000 usable settings a coarse grid is looked at.
std::vector<Equivalent> equivalents(const OptimumRequest& request, const Candidate& best);

}  // namespace doetune::surfaces
