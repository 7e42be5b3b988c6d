// Definitive screening designs: a conference matrix C, its mirror image -C, and a centre run.
//
// Jones & Nachtsheim (2011), with the conference matrices of Xiao, Lin & Bai (2012): 2m + 1 runs
// for order m; for an odd number of factors one column is omitted. Two-level categorical factors
// follow the DSD-augmented design of Jones & Nachtsheim (2013): their zeros become -1 or 1,
// opposite in the two runs of a mirrored pair, and two mirrored runs replace the centre run. Main
// effects stay orthogonal to all second-order terms, at the cost of small correlations among main
// effects.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>

#include "doe/classical/orthogonal_matrices.h"
#include "doe/classical/two_level.h"
#include "doe/combinations.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr int kMinFactors = 3;
constexpr int kMaxScreenedFactors = 100;

int pairs_of_center_runs(const DesignRequest& request) {
  return (request.options.center_runs.value_or(1) + 1) / 2;
}

/// Centre runs in one replicate.
int center_run_count(const DesignRequest& request, bool categorical) {
  return categorical ? 2 * pairs_of_center_runs(request) : request.options.center_runs.value_or(1);
}

/// The order of the conference matrix that gives the requested number of runs; at least `least`.
int order_of_runs(const DesignRequest& request, bool categorical, int least) {
  const int center = center_run_count(request, categorical);
  const int replicates = request.options.replicates;
  const int runs = *request.options.runs;
  const int half = (runs / replicates - center) / 2;
  if (half > 2 * kMaxScreenedFactors) {
    throw DesignError(fmt::format("definitive-screening has at most {} runs in each replicate",
                                  4 * kMaxScreenedFactors + center));
  }
  const int order = next_conference_order(std::max(half, least));
  if (replicates * (2 * order + center) == runs) return order;
  throw DesignError(fmt::format(
      "each replicate of definitive-screening with {} factors has two runs for every column of a "
      "conference matrix and {} at the centre; {} in total would be possible, but {} are requested",
      request.factors.size(), center, replicates * (2 * order + center), runs));
}

/// Explains why a design of k factors has more than 2k + 1 or 2k + 3 runs; empty if it does not.
std::string larger_order_note(int k, int order) {
  const int even = std::max(k + k % 2, 4);
  if (order == even) return {};
  return fmt::format(
      "built from the conference matrix of order {} without {} of its columns: none of order {} {}",
      order, order - k, even, no_conference_matrix(even) ? "exists" : "is known here");
}

/// Information matrix of the main effects, X'X, of a half design and its mirror image.
Eigen::MatrixXd information(const Eigen::MatrixXd& half) { return 2 * half.transpose() * half; }

double log_determinant(const Eigen::MatrixXd& half) {
  const Eigen::LLT<Eigen::MatrixXd> factor(information(half));
  if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  return factor.matrixLLT().diagonal().array().log().sum();
}

/// Replaces the zeros of categorical columns by -1 or 1 so that no single sign change increases the
/// determinant of the main-effect information.
void choose_signs(const std::vector<int>& categorical, Eigen::MatrixXd& half) {
  std::vector<std::pair<Eigen::Index, int>> zeros;
  for (const int f : categorical) {
    for (Eigen::Index run = 0; run < half.rows(); ++run) {
      if (half(run, f) == 0) zeros.emplace_back(run, f);
    }
  }
  for (const auto& [run, f] : zeros) half(run, f) = 1;
  double best = log_determinant(half);
  for (bool better = true; better;) {
    better = false;
    for (const auto& [run, f] : zeros) {
      half(run, f) *= -1;
      const double flipped = log_determinant(half);
      if (flipped > best + 1e-9) {
        best = flipped;
        better = true;
      } else {
        half(run, f) *= -1;
      }
    }
  }
}

double largest_correlation(const Eigen::MatrixXd& half) {
  Eigen::MatrixXd products = information(half);
  const Eigen::VectorXd norms = products.diagonal().cwiseSqrt().cwiseInverse();
  products = norms.asDiagonal() * products * norms.asDiagonal();
  products.diagonal().setZero();
  return products.cwiseAbs().maxCoeff();
}

void append_mirrored(const DesignRequest& request, const Eigen::MatrixXd& half, PointType type,
                     Design& design) {
  for (Eigen::Index run = 0; run < half.rows(); ++run) {
    for (const double side : {1.0, -1.0}) {
      design.points.push_back(
          {two_level_point(request.factors, side * half.row(run).transpose()), type});
    }
  }
}

}  // namespace

Design definitive_screening(const DesignRequest& request) {
  require_factors(request, "definitive-screening", kMinFactors);
  require_two_level_categories(request, "definitive-screening");
  const int k = static_cast<int>(request.factors.size());
  const std::vector<int> numeric = numeric_factors(request.factors);
  if (k > kMaxScreenedFactors) {
    throw DesignError(
        fmt::format("definitive-screening takes at most {} factors", kMaxScreenedFactors));
  }
  if (numeric.empty()) {
    throw DesignError(
        "definitive-screening needs a factor with three settings; plackett-burman takes two-level "
        "factors only");
  }
  std::vector<int> categorical;
  for (int f = 0; f < k; ++f) {
    if (request.factors[f].is_categorical()) categorical.push_back(f);
  }
  Design design;
  const int least = next_conference_order(std::max(k, 4));
  const int order =
      request.options.runs ? order_of_runs(request, !categorical.empty(), least) : least;
  const std::string note = request.options.runs ? "" : larger_order_note(k, order);
  if (!note.empty()) design.notes.push_back(note);
  Eigen::MatrixXd half = conference_matrix(order)->leftCols(k);
  if (categorical.empty()) {
    append_mirrored(request, half, PointType::kScreening, design);
    append_center_runs_to_blocks(request, center_run_count(request, false), 1, design);
    return design;
  }
  half.conservativeResize(order + pairs_of_center_runs(request), Eigen::NoChange);
  half.bottomRows(half.rows() - order).setZero();
  choose_signs(categorical, half);
  append_mirrored(request, half.topRows(order), PointType::kScreening, design);
  append_mirrored(request, half.bottomRows(half.rows() - order), PointType::kCenter, design);
  design.notes.push_back(
      fmt::format("two-level columns as in the DSD-augmented design: main effects are clear of "
                  "second-order terms and have correlations of up to {:.2f} with each other",
                  largest_correlation(half)));
  return design;
}

}  // namespace doetune::doe
