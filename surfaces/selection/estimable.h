// The terms that the runs can estimate.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// The terms of a model, in its order, whose columns are linearly independent of those of earlier
/// terms and of the blocks (n numbers, or none). A term with categorical factors counts as a whole.
std::vector<doe::Term> estimable_terms(const doe::Model& model, const Eigen::MatrixXd& coded,
                                       const std::vector<int>& blocks);

}  // namespace doetune::surfaces
