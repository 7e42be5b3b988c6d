// Which pairs of factors deserve a contour figure.
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

/// Pairs of numeric factors of a response with a surface: all where they are few, otherwise those
/// whose factors change each other's effect most through the coded point `held`, from the
/// strongest.
std::vector<FactorPair> pairs_to_draw(const analysis::Analysis& analysis,
                                      const analysis::ResponseAnalysis& response,
                                      const Eigen::VectorXd& held);

}  // namespace doetune::reports
