// Global search in the continuous factor ranges.
#pragma once

#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {

/// The results of NLopt's controlled random search (GN_CRS2_LM: Kaelo & Ali 2006, Journal of
/// Optimization Theory and Applications 130, 253) and its evolution strategy (GN_ESCH: da Silva
/// Santos et al. 2010), each polished by the subplex method (LN_SBPLX: Rowan 1990) and snapped to
/// usable settings; only those that the region allows. Deterministic. They are additional starts to
/// the best grid points: neither finds everything that the other does.
std::vector<Settings> globally_searched(const OptimumRequest& request,
                                        const SettingsSearch& search);

}  // namespace doetune::surfaces
