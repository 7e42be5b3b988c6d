// Basic quality measures of a design for a model, before any run.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doe/model.h"

namespace doetune::doe {

/// Properties of an n x p model matrix X in coded units. Properties that a singular design does not
/// have are empty.
struct Evaluation {
  int runs = 0;
  int terms = 0;                                    ///< p, the columns of X
  std::vector<std::string> aliases;                 ///< names of columns determined by the others
  std::optional<double> d_efficiency;               ///< 100 |X'X|^(1/p) / n, percent
  std::optional<double> a_efficiency;               ///< 100 p / (n tr (X'X)^-1), percent
  std::optional<double> log_det;                    ///< ln |X'X|
  std::optional<double> condition_number;           ///< of X'X: largest / smallest eigenvalue
  std::vector<std::pair<std::string, double>> vif;  ///< variance inflation factor of each column
                                                    ///< except "1"
};

/// Source: Atkinson, Donev & Tobias (2007), Optimum Experimental Designs, ch. 10 and 11.
Evaluation evaluate(const Model& model, const Eigen::MatrixXd& coded);

}  // namespace doetune::doe
