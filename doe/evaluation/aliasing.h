// Aliasing and correlation of effects, within a model and with omitted terms.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "doe/model.h"

namespace doetune::doe {

/// The main effects, two-factor interactions and squares that a model omits. Factors with two
/// usable settings have no squares.
Model missing_second_order(const Model& model);

/// A matrix with named rows and columns, which are model columns.
struct NamedMatrix {
  std::vector<std::string> rows, columns;
  Eigen::MatrixXd values;
};

/// A = (X1'X1)^-1 X1'X2: the bias of the estimated coefficients is A times the coefficients of the
/// omitted columns X2 (missing_second_order). p x q.
///
/// Source: Box & Draper (1987), Empirical Model-Building and Response Surfaces, ch. 13.
NamedMatrix alias_matrix(const Model& model, const Eigen::MatrixXd& coded,
                         const Eigen::MatrixXd& inverse_information);

/// |correlation| between the columns of a model and of missing_second_order; columns that are
/// constant over the runs are omitted.
NamedMatrix correlation_map(const Model& model, const Eigen::MatrixXd& coded);

/// Groups of those columns that are equal over the runs up to sign, written "a = b*c = -d".
std::vector<std::string> alias_sets(const Model& model, const Eigen::MatrixXd& coded);

}  // namespace doetune::doe
