// Functions common to two-level designs.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Throws DesignError unless the request has at least `least` factors, each with two or more
/// settings.
void require_factors(const DesignRequest& request, std::string_view type, int least);

/// Throws DesignError if a categorical factor has more than two levels.
void require_two_level_categories(const DesignRequest& request, std::string_view type);

/// The coded point for signs -1 and 1; for a categorical factor, its first and second level.
Eigen::VectorXd two_level_point(const std::vector<Factor>& factors, const Eigen::VectorXd& signs);

/// The runs in `options.runs` for one replicate without its centre runs. Throws DesignError if the
/// replicates do not divide the runs, or none is left.
int runs_without_center(const DesignRequest& request, int center_runs);

/// The reverse: the `options.runs` of a design with this many runs in addition to centre runs.
int runs_with_center(const DesignRequest& request, int runs, int center_runs);

/// Adds `runs` runs at the centre of the numeric factors for each combination of categorical
/// levels, assigned to blocks 1 .. blocks in turn. Throws DesignError if no factor is numeric and
/// runs > 0, or if there would be over 1,000,000 runs.
void append_center_runs_to_blocks(const DesignRequest& request, int runs, int blocks,
                                  Design& design);

}  // namespace doetune::doe
