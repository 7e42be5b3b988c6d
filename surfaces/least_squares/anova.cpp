#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// The part of the analysis a term belongs to, in the order they are fitted; -1 for the intercept.
int part_of(const doe::Term& term) {
  const int order = term.order();
  if (order == 0) return -1;
  if (order == 1) return 0;
  if (order > 2) return 3;
  return *std::max_element(term.powers.begin(), term.powers.end()) == 1 ? 1 : 2;
}

constexpr const char* kMean = "mean";
constexpr const char* kParts[] = {"first order", "two-way interactions", "pure quadratic",
                                  "third order and above"};

AnovaRow tested(std::string source, int df, double sum_of_squares, double error_mean_square,
                int error_df) {
  AnovaRow row{std::move(source), df, sum_of_squares, {}, {}, {}};
  if (df == 0) return row;
  row.mean_square = sum_of_squares / df;
  if (error_df > 0 && error_mean_square > 0) {
    row.f = *row.mean_square / error_mean_square;
    row.p = f_p_value(*row.f, df, error_df);
  }
  return row;
}

/// What the residuals of points that were run more than once in a block consist of: scatter about
/// the mean of the point, and the distance of that mean from the fit. Neither is a difference of
/// large sums.
struct SplitResiduals {
  double pure_error = 0;
  double lack_of_fit = 0;
  int df_pure_error = 0;
  int df_lack_of_fit = 0;
};

SplitResiduals split_residuals(const Fit& fit, const Eigen::VectorXd& z) {
  std::map<std::vector<double>, std::vector<int>> groups;
  for (int i = 0; i < fit.n; ++i) {
    const Eigen::RowVectorXd point = fit.coded.row(i);
    std::vector<double> key(point.begin(), point.end());
    if (!fit.blocks.empty()) key.push_back(fit.blocks[i]);
    groups[key].push_back(i);
  }
  SplitResiduals split;
  for (const auto& [point, runs] : groups) {
    const Eigen::VectorXd values = z(runs);
    const double distance = fit.residuals(runs).mean();
    split.pure_error += (values.array() - values.mean()).square().sum();
    split.lack_of_fit += static_cast<double>(runs.size()) * distance * distance;
    split.df_pure_error += static_cast<int>(runs.size()) - 1;
  }
  split.df_lack_of_fit = fit.df_residual - split.df_pure_error;
  split.pure_error = without_rounding(split.pure_error, z);
  split.lack_of_fit = without_rounding(split.lack_of_fit, z);
  return split;
}

struct Part {
  std::string name;
  int df = 0;
  double sum_of_squares = 0;
};

/// Sequential sums of squares: of z along what each part's columns add to those before them, from
/// a QR decomposition that keeps the columns in order.
std::vector<Part> sequential_parts(const Fit& fit, const Eigen::VectorXd& z) {
  const std::vector<ModelPart> in_order = model_parts(fit);
  std::vector<int> order;
  for (const ModelPart& part : in_order) {
    order.insert(order.end(), part.columns.begin(), part.columns.end());
  }
  const Eigen::MatrixXd x = full_matrix(fit)(Eigen::all, order);
  const Eigen::VectorXd along =
      Eigen::HouseholderQR<Eigen::MatrixXd>(x).householderQ().adjoint() * z;
  std::vector<Part> parts;
  Eigen::Index before = 0;
  for (const ModelPart& part : in_order) {
    const auto df = static_cast<Eigen::Index>(part.columns.size());
    if (part.name != kMean) {
      parts.push_back({part.name, static_cast<int>(df),
                       without_rounding(along.segment(before, df).squaredNorm(), z)});
    }
    before += df;
  }
  return parts;
}

}  // namespace

double without_rounding(double sum_of_squares, const Eigen::VectorXd& z) {
  constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();
  const double rounding = static_cast<double>(z.size()) * kRounding * kRounding * z.squaredNorm();
  return sum_of_squares > rounding ? sum_of_squares : 0;
}

Eigen::MatrixXd full_matrix(const Fit& fit) {
  const int columns = fit.model.column_count(), blocks = block_count(fit.blocks) - 1;
  Eigen::MatrixXd x(fit.n, columns + blocks);
  x.leftCols(columns) = fit.model.matrix(fit.coded);
  x.rightCols(blocks) = block_contrasts(fit.blocks, fit.n);
  return x;
}

std::vector<ModelPart> model_parts(const Fit& fit) {
  const doe::Model& model = fit.model;
  std::vector<int> of_blocks(static_cast<std::size_t>(block_count(fit.blocks) - 1));
  std::iota(of_blocks.begin(), of_blocks.end(), model.column_count());
  std::vector<ModelPart> parts{{kMean, {}}, {kBlockPart, of_blocks}};
  for (const char* name : kParts) parts.push_back({name, {}});
  for (int c = 0; c < model.column_count(); ++c) {
    const int part = part_of(model.terms()[model.columns()[c].term]);
    parts[part < 0 ? 0 : static_cast<std::size_t>(part) + 2].columns.push_back(c);
  }
  std::erase_if(parts, [](const ModelPart& part) { return part.columns.empty(); });
  return parts;
}

std::vector<AnovaRow> analysis_of_variance(const Fit& fit, const Eigen::VectorXd& z) {
  const double total = without_rounding((z.array() - z.mean()).square().sum(), z);
  const double rss = without_rounding(fit.residuals.squaredNorm(), z);
  const double error = fit.df_residual > 0 ? rss / fit.df_residual : 0;
  const std::vector<Part> parts = sequential_parts(fit, z);
  Part model{"model"};
  std::vector<AnovaRow> rows;
  for (const Part& part : parts) {
    if (part.name == kBlockPart) {
      rows.push_back(tested(part.name, part.df, part.sum_of_squares, error, fit.df_residual));
      continue;
    }
    model.df += part.df;
    model.sum_of_squares += part.sum_of_squares;
  }
  rows.push_back(tested(model.name, model.df, model.sum_of_squares, error, fit.df_residual));
  for (const Part& part : parts) {
    if (part.name == kBlockPart) continue;
    rows.push_back(tested(part.name, part.df, part.sum_of_squares, error, fit.df_residual));
  }
  rows.push_back(tested("residual", fit.df_residual, rss, 0, 0));
  if (lack_of_fit(fit, z)) {
    const SplitResiduals split = split_residuals(fit, z);
    rows.push_back(tested("lack of fit", split.df_lack_of_fit, split.lack_of_fit,
                          split.pure_error / split.df_pure_error, split.df_pure_error));
    rows.push_back(tested("pure error", split.df_pure_error, split.pure_error, 0, 0));
  }
  rows.push_back({"total", fit.n - 1, total, {}, {}, {}});
  return rows;
}

std::optional<LackOfFit> lack_of_fit(const Fit& fit, const Eigen::VectorXd& z) {
  if (!lack_of_fit_problem(fit, z).empty()) return std::nullopt;
  const SplitResiduals split = split_residuals(fit, z);
  const double lack = split.lack_of_fit / split.df_lack_of_fit;
  const double pure = split.pure_error / split.df_pure_error;
  LackOfFit result{split.df_lack_of_fit, split.df_pure_error, lack / pure, 0};
  result.p = f_p_value(result.f, result.df, result.df_pure_error);
  return result;
}

std::string lack_of_fit_problem(const Fit& fit, const Eigen::VectorXd& z) {
  const SplitResiduals split = split_residuals(fit, z);
  if (split.df_pure_error == 0) return "no replicated runs";
  if (split.df_lack_of_fit <= 0) return "no residual freedom beyond replicated runs";
  return split.pure_error > 0 ? "" : "replicated runs agree exactly";
}

}  // namespace doetune::surfaces
