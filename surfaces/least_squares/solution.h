// The least-squares problem of a fit and its solution, in as much precision as needed.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// Regression of z on the columns of the model and the block contrasts, with weighted runs.
struct LeastSquaresProblem {
  const doe::Model& model;
  const Eigen::MatrixXd& coded;     ///< n x k
  const Eigen::MatrixXd& settings;  ///< n x k in natural units, coded again if given; may be empty
  const Eigen::VectorXd& weights;   ///< n, >= 0; empty: all 1
  const std::vector<int>& blocks;   ///< n; empty: a single block
};

/// A part of the model with its columns, and the sum of squares it adds to the preceding parts.
struct ModelPart {
  std::string name;
  std::vector<int> columns;  ///< indices beyond the model's columns: block contrasts
  double sum_of_squares = 0;

  int df() const { return static_cast<int>(columns.size()); }
};

inline constexpr const char* kMean = "mean";
inline constexpr const char* kBlocks = "blocks";

/// In fitting order: "mean" for the term 1, "blocks" if there are any, then by order of their terms
/// the four parts of the analysis of variance, which may have no columns.
std::vector<ModelPart> model_parts(const doe::Model& model, const std::vector<int>& blocks);

/// With W the weights: b minimises (z - X b)' W (z - X b).
struct Solution {
  Eigen::VectorXd b;                ///< the model's columns, then the block contrasts
  Eigen::MatrixXd covariance;       ///< (X'WX)^-1
  Eigen::MatrixXd weights_of_runs;  ///< p x n: b = weights_of_runs z
  Eigen::VectorXd fitted, residuals, leverage;
  std::vector<ModelPart> parts;  ///< all except the mean
  std::vector<std::string> natural_terms;
  Eigen::VectorXd natural, natural_roots;  ///< coefficients; their standard errors over sigma
};

/// The decomposed columns of a problem, for any number of responses.
class LeastSquaresSolver {
 public:
  virtual ~LeastSquaresSolver() = default;

  /// The solution for n responses; thread-safe.
  virtual Solution solve(const Eigen::VectorXd& z) const = 0;

  /// The covariance, the same for every solution.
  virtual const Eigen::MatrixXd& covariance() const = 0;
};

/// Householder QR of the columns in the order intercept, blocks, parts of the model, all but the
/// intercept centred at their weighted means, and column-pivoted QR of R for the rank.
///
/// The arithmetic has 53 bits for a large well-conditioned problem, 64 for a small or
/// ill-conditioned one and 113 for one that is both, as cost permits.
///
/// Null if the columns are rank-deficient.
std::unique_ptr<const LeastSquaresSolver> least_squares_solver(const LeastSquaresProblem& problem);

/// The reason why the runs do not determine the columns, and the remedy: factors that do not vary,
/// or each dependent column as a combination of earlier ones, "a^2 = 1".
std::string why_undetermined(const LeastSquaresProblem& problem);

/// n x p: the model's columns, then the block contrasts.
Eigen::MatrixXd columns_of(const LeastSquaresProblem& problem);

}  // namespace doetune::surfaces
