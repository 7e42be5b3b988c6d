// What a design cannot tell apart, within a model and beyond it.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "doe/model.h"

namespace doetune::doe {

/// The main effects, two-factor interactions and squares that a model leaves out. Squares of
/// factors with two usable settings are no terms.
Model missing_second_order(const Model& model);

/// A matrix with names. Rows and columns are model columns.
struct NamedMatrix {
  std::vector<std::string> rows, columns;
  Eigen::MatrixXd values;
};

/// A = (X1'X1)^-1 X1'X2: the estimated coefficients are biased by A times the coefficients of the
/// columns X2 that the model leaves out (missing_second_order). p x q.
///
/// Source: Box & Draper (1987), Empirical Model-Building and Response Surfaces, ch. 13.
NamedMatrix alias_matrix(const Model& model, const Eigen::MatrixXd& coded,
                         const Eigen::MatrixXd& inverse_information);

/// |correlation| between the columns of a model and of missing_second_order; columns that are
/// constant over the runs are left out.
NamedMatrix correlation_map(const Model& model, const Eigen::MatrixXd& coded);

/// Sets of those columns that are equal over the runs up to sign, written "a = b*c = -d".
std::vector<std::string> alias_sets(const Model& model, const Eigen::MatrixXd& coded);

}  // namespace doetune::doe
