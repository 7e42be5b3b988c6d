// How the columns of a model make up a quadratic; for surfaces/shape/ only.
#pragma once

#include <vector>

#include "surfaces/shape.h"

namespace doetune::surfaces {

/// What one column of the model adds to a quadratic: the numeric variables it multiplies (none, one
/// or two of them, a square twice the same; more are no quadratic), times its categorical
/// contrasts.
struct QuadraticEntry {
  std::vector<Eigen::Index> variables;  ///< by place among the numeric factors
  double contrast = 1;
};

/// One a column, categorical factors at the levels of the coded point `at`.
std::vector<QuadraticEntry> quadratic_entries(const doe::Model& model, const Eigen::VectorXd& at,
                                              const std::vector<int>& numeric);

void add_entry(const QuadraticEntry& entry, double coefficient, Quadratic& quadratic);

/// A coefficient with the rounding of the responses taken for none: from exact data a coefficient
/// that is 0 comes out at some 1e-17, and would put the stationary point far out.
double coefficient_of(const Fit& fit, int column);

}  // namespace doetune::surfaces
