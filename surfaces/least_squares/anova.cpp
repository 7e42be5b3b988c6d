#include <map>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

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

/// The runs at each point, separately by block.
std::map<std::vector<double>, std::vector<int>> replicates(const Fit& fit) {
  std::map<std::vector<double>, std::vector<int>> groups;
  for (int i = 0; i < fit.n; ++i) {
    const Eigen::RowVectorXd point = fit.coded.row(i);
    std::vector<double> key(point.begin(), point.end());
    if (!fit.blocks.empty()) key.push_back(fit.blocks[i]);
    groups[key].push_back(i);
  }
  return groups;
}

SplitResiduals split_residuals(const Fit& fit, const Eigen::VectorXd& weights,
                               const Eigen::VectorXd& z) {
  SplitResiduals split;
  for (const auto& [point, runs] : replicates(fit)) {
    const Eigen::VectorXd w = weights(runs), values = z(runs);
    const double distance = w.dot(fit.residuals(runs)) / w.sum();
    split.lack_of_fit += w.sum() * distance * distance;
    if (runs.size() == 1) continue;
    const double mean = w.dot(values) / w.sum();
    split.pure_error += w.dot((values.array() - mean).square().matrix());
    split.df_pure_error += static_cast<int>(runs.size()) - 1;
  }
  split.df_lack_of_fit = fit.df_residual - split.df_pure_error;
  return split;
}

}  // namespace

SumsOfSquares sums_of_squares(const Fit& fit, const Solution& solution, const Eigen::VectorXd& z,
                              const Eigen::VectorXd& w) {
  const Eigen::VectorXd weighted = z.cwiseProduct(w.cwiseSqrt());
  const auto rounded = [&](double sum) { return without_rounding(sum, weighted); };
  SumsOfSquares sums;
  const bool about_mean = fit.has_intercept();
  const double centre = about_mean ? w.dot(z) / w.sum() : 0;
  sums.total = rounded(w.dot((z.array() - centre).square().matrix()));
  sums.df_total = about_mean ? fit.n - 1 : fit.n;
  sums.residual = rounded(w.dot(fit.residuals.cwiseAbs2()));
  sums.df_residual = fit.df_residual;
  for (ModelPart part : solution.parts) {
    part.sum_of_squares = rounded(part.sum_of_squares);
    if (part.name != kBlocks) {
      sums.model += part.sum_of_squares;
      sums.df_model += part.df();
    }
    sums.parts.push_back(std::move(part));
  }
  sums.split = split_residuals(fit, w, z);
  sums.split.pure_error = rounded(sums.split.pure_error);
  sums.split.lack_of_fit = rounded(sums.split.lack_of_fit);
  return sums;
}

std::vector<AnovaRow> analysis_of_variance(const SumsOfSquares& sums) {
  const int df = sums.df_residual;
  const double error = df > 0 ? sums.residual / df : 0;
  std::vector<AnovaRow> rows;
  for (const ModelPart& part : sums.parts) {
    if (part.name == kBlocks) {
      rows.push_back(tested(part.name, part.df(), part.sum_of_squares, error, df));
    }
  }
  rows.push_back(tested("model", sums.df_model, sums.model, error, df));
  for (const ModelPart& part : sums.parts) {
    if (part.df() == 0 || part.name == kBlocks) continue;
    rows.push_back(tested(part.name, part.df(), part.sum_of_squares, error, df));
  }
  rows.push_back(tested("residual", df, sums.residual, 0, 0));
  if (lack_of_fit_problem(sums).empty()) {
    const SplitResiduals& split = sums.split;
    rows.push_back(tested("lack of fit", split.df_lack_of_fit, split.lack_of_fit,
                          split.pure_error / split.df_pure_error, split.df_pure_error));
    rows.push_back(tested("pure error", split.df_pure_error, split.pure_error, 0, 0));
  }
  rows.push_back({"total", sums.df_total, sums.total, {}, {}, {}});
  return rows;
}

std::optional<LackOfFit> lack_of_fit(const SumsOfSquares& sums) {
  if (!lack_of_fit_problem(sums).empty()) return std::nullopt;
  const SplitResiduals& split = sums.split;
  const double lack = split.lack_of_fit / split.df_lack_of_fit;
  const double pure = split.pure_error / split.df_pure_error;
  LackOfFit result{split.df_lack_of_fit, split.df_pure_error, lack / pure, 0};
  result.p = f_p_value(result.f, result.df, result.df_pure_error);
  return result;
}

std::string lack_of_fit_problem(const SumsOfSquares& sums) {
  if (sums.split.df_pure_error == 0) return "no replicated runs";
  if (sums.split.df_lack_of_fit <= 0)
    return "no residual degrees of freedom beyond replicated runs";
  return sums.split.pure_error > 0 ? "" : "replicated runs agree exactly";
}

}  // namespace doetune::surfaces
