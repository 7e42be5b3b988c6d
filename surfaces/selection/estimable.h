// Which terms the runs can tell apart.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// The terms of a model, in its order, whose columns depend neither on those of the terms before
/// them nor on the blocks (n numbers, or none). A term with categorical factors counts as a whole.
std::vector<doe::Term> estimable_terms(const doe::Model& model, const Eigen::MatrixXd& coded,
                                       const std::vector<int>& blocks);

}  // namespace doetune::surfaces
