// Settings that are statistically indistinguishable from the best.
#pragma once

#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/comparison.h"

namespace doetune::surfaces {

struct Equivalent {
  Candidate candidate;
  std::vector<Gain> against_best;  ///< all responses: what it costs and what it saves
};

/// Settings that are not significantly worse than the best: in no response with a ramp does the
/// best's advantage exceed t times the standard error of the difference (errors of both means
/// included; all ramps jointly by Bonferroni at request.confidence), and limits are missed by no
/// more than the best misses them. Up to 5, as far from the best and from each other as possible,
/// at least a quarter of a factor's range or a level apart, most desirable first; empty without a
/// ramp that has an error estimate. With more than 200,000 usable settings a coarse grid is
/// searched.
std::vector<Equivalent> equivalents(const OptimumRequest& request, const Candidate& best);

}  // namespace doetune::surfaces
