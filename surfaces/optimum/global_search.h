// A search over everything between the ends of the factors' ranges.
#pragma once

#include <vector>

#include "surfaces/optimum.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {

/// Settings where NLopt's controlled random search (GN_CRS2_LM: Kaelo & Ali 2006, Journal of
/// Optimization Theory and Applications 130, 253) and its evolution strategy (GN_ESCH: da Silva
/// Santos et al. 2010) end, each polished by the subplex method (LN_SBPLX: Rowan 1990) and snapped
/// to usable settings; only those that the region allows. The same every time. They are starts for
/// moves among usable settings, beside the grid's best: neither finds all that the other does.
std::vector<Settings> globally_searched(const OptimumRequest& request,
                                        const SettingsSearch& search);

}  // namespace doetune::surfaces
