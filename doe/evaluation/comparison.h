// Side-by-side comparison of two designs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doe/evaluation/full_evaluation.h"

namespace doetune::doe {

/// One property of two designs; empty where a design does not have it.
struct ComparisonRow {
  std::string name;  ///< with its unit: "D-efficiency, percent"
  std::optional<double> a, b;
  int better = 0;  ///< 1: larger is better, -1: smaller is better, 0: neither
};

/// Rows in reading order: size, efficiencies, prediction variances, aliasing, spread, and the power
/// of every term in either design.
std::vector<ComparisonRow> compare(const FullEvaluation& a, const FullEvaluation& b);

}  // namespace doetune::doe
