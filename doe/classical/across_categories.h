// Response-surface designs of numeric factors, run at every combination of categorical levels.
#pragma once

#include <string_view>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Extends points of the numeric factors to points of all factors: the whole list for the first
/// combination of categorical levels, then for the next. Throws DesignError if there would be over
/// 1,000,000 points.
std::vector<DesignPoint> across_categories(const DesignRequest& request,
                                           const std::vector<DesignPoint>& numeric_points,
                                           std::string_view type);

}  // namespace doetune::doe
