// Selects the pairs of factors to show in contour figures.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::reports {

struct FactorPair {
  int x = 0;
  int y = 1;
};

/// Pairs of numeric factors of a response with a surface: all if they are few, otherwise those with
/// the strongest interaction at the coded point `held`, strongest first.
std::vector<FactorPair> pairs_to_draw(const analysis::Analysis& analysis,
                                      const analysis::ResponseAnalysis& response,
                                      const Eigen::VectorXd& held);

}  // namespace doetune::reports
