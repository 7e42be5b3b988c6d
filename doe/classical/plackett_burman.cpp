// Plackett-Burman designs: main effects of k factors from columns of a Hadamard matrix, in the
// smallest multiple of four above k, or any larger one.
#include <fmt/format.h>

#include <algorithm>

#include "doe/classical/orthogonal_matrices.h"
#include "doe/classical/two_level.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr int kMaxScreeningRuns = 200;

int asked_runs(const DesignRequest& request) {
  const int k = static_cast<int>(request.factors.size());
  const int least = k / 4 * 4 + 4;
  if (!request.options.runs) return least;
  const int center = request.options.center_runs.value_or(0);
  const int runs = runs_without_center(request, center);
  if (runs % 4 != 0) {
    throw DesignError(
        fmt::format("the number of runs of plackett-burman without centre runs is a multiple of "
                    "four, but {} is not; use runs: {}",
                    runs, runs_with_center(request, std::max(least, runs / 4 * 4 + 4), center)));
  }
  if (runs < least) {
    throw DesignError(fmt::format(
        "plackett-burman needs {} runs for {} factors, but {} are requested", least, k, runs));
  }
  return runs;
}

/// n x k matrix of -1 and 1; the last run is all -1.
Eigen::MatrixXd screening_columns(int n, int k) {
  if (n > kMaxScreeningRuns) {
    throw DesignError(fmt::format(
        "plackett-burman has at most {} runs, for {} factors; {} are requested or needed",
        kMaxScreeningRuns, kMaxScreeningRuns - 1, n));
  }
  const auto hadamard = hadamard_matrix(n);
  if (!hadamard) {
    throw DesignError(fmt::format("plackett-burman: no design with {} runs is known; try {} or {}",
                                  n, n - 4, n + 4));
  }
  const Eigen::MatrixXd columns = hadamard->middleCols(1, k);
  return columns * (-columns.row(n - 1)).asDiagonal();
}

/// The largest absolute correlation of a main effect with an interaction of two other factors.
double largest_column_correlation(const Eigen::MatrixXd& x) {
  double largest = 0;
  for (Eigen::Index a = 0; a < x.cols(); ++a) {
    for (Eigen::Index b = a + 1; b < x.cols(); ++b) {
      Eigen::VectorXd sums = x.transpose() * x.col(a).cwiseProduct(x.col(b));
      sums[a] = sums[b] = 0;
      largest = std::max(largest, sums.cwiseAbs().maxCoeff());
    }
  }
  return largest / static_cast<double>(x.rows());
}

std::string aliasing_note(const Eigen::MatrixXd& x) {
  const double correlation = largest_column_correlation(x);
  if (correlation == 0) return "main effects are clear of two-factor interactions";
  if (correlation == 1) {
    return fmt::format(
        "some main effects are aliased with two-factor interactions; with fractional-factorial, "
        "runs: {}, you can choose which",
        x.rows());
  }
  return fmt::format(
      "main effects are partially aliased with two-factor interactions: correlations up to {:.2f}",
      correlation);
}

}  // namespace

Design plackett_burman(const DesignRequest& request) {
  require_factors(request, "plackett-burman", 1);
  require_two_level_categories(request, "plackett-burman");
  const Eigen::MatrixXd x =
      screening_columns(asked_runs(request), static_cast<int>(request.factors.size()));
  Design design;
  for (Eigen::Index run = 0; run < x.rows(); ++run) {
    design.points.push_back(
        {two_level_point(request.factors, x.row(run).transpose()), PointType::kScreening});
  }
  append_center_runs_to_blocks(request, request.options.center_runs.value_or(0), 1, design);
  design.notes.push_back(aliasing_note(x));
  return design;
}

}  // namespace doetune::doe
