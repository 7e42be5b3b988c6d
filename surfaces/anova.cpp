#include <Eigen/Dense>
#include <algorithm>
#include <map>

#include "surfaces/distributions.h"
#include "surfaces/fit_parts.h"

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

constexpr const char* kParts[] = {"first order", "two-way interactions", "pure quadratic",
                                  "third order and above"};

double residual_sum_of_squares(const Eigen::MatrixXd& x, const Eigen::VectorXd& z) {
  if (x.cols() == 0) return z.squaredNorm();
  return (z - x * Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(x).solve(z)).squaredNorm();
}

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

/// Sum of squares and degrees of freedom of points that were run more than once.
struct PureError {
  double sum_of_squares = 0;
  int df = 0;
};

PureError pure_error(const Fit& fit, const Eigen::VectorXd& z) {
  std::map<std::vector<double>, std::vector<double>> groups;
  for (int i = 0; i < fit.n; ++i) {
    const Eigen::RowVectorXd point = fit.coded.row(i);
    groups[{point.begin(), point.end()}].push_back(z[i]);
  }
  PureError error;
  for (const auto& [point, values] : groups) {
    const Eigen::Map<const Eigen::VectorXd> v(values.data(),
                                              static_cast<Eigen::Index>(values.size()));
    error.sum_of_squares += (v.array() - v.mean()).square().sum();
    error.df += static_cast<int>(values.size()) - 1;
  }
  return error;
}

/// Sequential rows: each part's reduction of the residual after the parts before it.
std::vector<AnovaRow> part_rows(const Fit& fit, const Eigen::VectorXd& z,
                                double error_mean_square) {
  const Eigen::MatrixXd x = fit.model.matrix(fit.coded);
  Eigen::MatrixXd fitted_so_far(x.rows(), 0);
  double residual = z.squaredNorm();
  std::vector<AnovaRow> rows;
  for (int part = -1; part < 4; ++part) {
    const Eigen::Index before = fitted_so_far.cols();
    for (int c = 0; c < fit.model.column_count(); ++c) {
      if (part_of(fit.model.terms()[fit.model.columns()[c].term]) != part) continue;
      fitted_so_far.conservativeResize(Eigen::NoChange, fitted_so_far.cols() + 1);
      fitted_so_far.rightCols(1) = x.col(c);
    }
    const int df = static_cast<int>(fitted_so_far.cols() - before);
    if (df == 0) continue;
    const double next = residual_sum_of_squares(fitted_so_far, z);
    if (part >= 0) {
      // Where a part explains nothing the difference is rounding, of either sign.
      const double explained = std::max(0.0, residual - next);
      rows.push_back(tested(kParts[part], df, explained, error_mean_square, fit.df_residual));
    }
    residual = next;
  }
  return rows;
}

}  // namespace

std::vector<AnovaRow> analysis_of_variance(const Fit& fit, const Eigen::VectorXd& z) {
  const double total = (z.array() - z.mean()).square().sum();
  const double rss = fit.residuals.squaredNorm();
  const double error = fit.df_residual > 0 ? rss / fit.df_residual : 0;
  std::vector<AnovaRow> rows;
  const int model_df = fit.n - 1 - fit.df_residual;
  rows.push_back(tested("model", model_df, std::max(0.0, total - rss), error, fit.df_residual));
  for (AnovaRow& row : part_rows(fit, z, error)) rows.push_back(std::move(row));
  rows.push_back(tested("residual", fit.df_residual, rss, 0, 0));
  if (const auto lack = lack_of_fit(fit, z)) {
    const PureError pure = pure_error(fit, z);
    AnovaRow row{"lack of fit", lack->df, rss - pure.sum_of_squares, {}, lack->f, lack->p};
    row.mean_square = row.sum_of_squares / lack->df;
    rows.push_back(row);
    rows.push_back(tested("pure error", pure.df, pure.sum_of_squares, 0, 0));
  }
  rows.push_back({"total", fit.n - 1, total, {}, {}, {}});
  return rows;
}

std::optional<LackOfFit> lack_of_fit(const Fit& fit, const Eigen::VectorXd& z) {
  const PureError pure = pure_error(fit, z);
  const int df = fit.df_residual - pure.df;
  if (df <= 0 || pure.df == 0 || pure.sum_of_squares <= 0) return std::nullopt;
  const double lack = std::max(0.0, fit.residuals.squaredNorm() - pure.sum_of_squares);
  LackOfFit result{df, pure.df, (lack / df) / (pure.sum_of_squares / pure.df), 0};
  result.p = f_p_value(result.f, df, pure.df);
  return result;
}

}  // namespace doetune::surfaces
