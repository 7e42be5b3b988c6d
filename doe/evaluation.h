// How good a design is for a model, before anything is run.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doe/model.h"

namespace doetune::doe {

/// Properties of an n x p model matrix X in coded units. What a singular design does not have is
/// empty.
struct Evaluation {
  int runs = 0;
  int terms = 0;                                    ///< p, the columns of X
  std::vector<std::string> aliases;                 ///< columns that the others determine, by name
  std::optional<double> d_efficiency;               ///< 100 |X'X|^(1/p) / n, percent
  std::optional<double> a_efficiency;               ///< 100 p / (n tr (X'X)^-1), percent
  std::optional<double> log_det;                    ///< ln |X'X|
  std::optional<double> condition_number;           ///< of X'X: largest over smallest eigenvalue
  std::vector<std::pair<std::string, double>> vif;  ///< variance inflation of each column but "1"
};

/// Source: Atkinson, Donev & Tobias (2007), Optimum Experimental Designs, ch. 10 and 11.
Evaluation evaluate(const Model& model, const Eigen::MatrixXd& coded);

}  // namespace doetune::doe
