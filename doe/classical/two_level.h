// What designs at two settings a factor share.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Throws DesignError unless the request has at least so many factors, each with two or more
/// settings.
void require_factors(const DesignRequest& request, std::string_view type, int least);

/// Throws DesignError if a categorical factor has more than two levels.
void require_two_level_categories(const DesignRequest& request, std::string_view type);

/// The coded point of -1 and 1: of a categorical factor, its first and its second level.
Eigen::VectorXd two_level_point(const std::vector<Factor>& factors, const Eigen::VectorXd& signs);

/// The runs of `options.runs` that are left for one replicate without its centre runs. Throws
/// DesignError where the replicates do not divide the runs, or nothing is left.
int runs_without_center(const DesignRequest& request, int center_runs);

/// The reverse: `options.runs` of a design with so many runs beside the centre runs.
int runs_with_center(const DesignRequest& request, int runs, int center_runs);

/// Adds so many runs at the centre of the numeric factors, for every combination of categorical
/// levels, in turn to blocks 1 .. blocks. Throws DesignError if no factor is numeric and
/// runs > 0, or over 1,000,000 runs come of it.
void append_center_runs_to_blocks(const DesignRequest& request, int runs, int blocks,
                                  Design& design);

}  // namespace doetune::doe
