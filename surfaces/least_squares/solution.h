// The least-squares problem of a fit and its solution, in as much precision as it needs.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// Responses z by the columns of the model and the contrasts of the blocks, each run counting by
/// its weight.
struct LeastSquaresProblem {
  const doe::Model& model;
  const Eigen::MatrixXd& coded;     ///< n x k
  const Eigen::MatrixXd& settings;  ///< n x k in natural units, coded again where given; or empty
  const Eigen::VectorXd& weights;   ///< n, >= 0; empty: all 1
  const std::vector<int>& blocks;   ///< n; empty: one
};

/// A part of the model with its columns, and what these add to the parts before it.
struct ModelPart {
  std::string name;
  std::vector<int> columns;  ///< numbers beyond the model's columns: contrasts of blocks
  double sum_of_squares = 0;

  int df() const { return static_cast<int>(columns.size()); }
};

inline constexpr const char* kMean = "mean";
inline constexpr const char* kBlocks = "blocks";

/// In the order of fitting: "mean" for the term 1, "blocks" where there are any, then by order of
/// their terms the four parts of the analysis of variance, perhaps without columns.
std::vector<ModelPart> model_parts(const doe::Model& model, const std::vector<int>& blocks);

/// With W the weights: b minimises (z - X b)' W (z - X b).
struct Solution {
  Eigen::VectorXd b;                ///< the model's columns, then the contrasts of the blocks
  Eigen::MatrixXd covariance;       ///< (X'WX)^-1
  Eigen::MatrixXd weights_of_runs;  ///< p x n: b = weights_of_runs z
  Eigen::VectorXd fitted, residuals, leverage;
  std::vector<ModelPart> parts;  ///< all but the mean
  std::vector<std::string> natural_terms;
  Eigen::VectorXd natural, natural_roots;  ///< coefficients; their standard errors over sigma
};

/// The columns of a problem decomposed, for any number of responses.
class LeastSquaresSolver {
 public:
  virtual ~LeastSquaresSolver() = default;

  /// Of n responses; may be called by several threads at a time.
  virtual Solution solve(const Eigen::VectorXd& z) const = 0;

  /// Of every solution.
  virtual const Eigen::MatrixXd& covariance() const = 0;
};

/// Householder QR of the columns in the order intercept, blocks, parts of the model, all but the
/// intercept about their weighted means, and column-pivoted QR of its R for the rank.
///
/// The arithmetic has 53 bits for a large well-conditioned problem, 64 for a small or badly
/// conditioned one and 113 for one that is both: as many as cost little.
///
/// Null if the columns have no full rank.
std::unique_ptr<const LeastSquaresSolver> least_squares_solver(const LeastSquaresProblem& problem);

/// Why the runs do not determine the columns, and the remedy: what is stuck, or each dependent
/// column as a combination of those before it, "a^2 = 1".
std::string why_undetermined(const LeastSquaresProblem& problem);

/// n x p: the model's columns, then the contrasts of the blocks.
Eigen::MatrixXd columns_of(const LeastSquaresProblem& problem);

}  // namespace doetune::surfaces
