// Summary statistics of a fit, diagnostics of its runs and tables of coefficients.
#include <cmath>
#include <limits>
#include <numbers>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// The fit passes through a run of this leverage whatever its response.
constexpr double kFullLeverage = 1 - 1e-10;

void add_aicc(Fit& fit, double rss) {
  const double k = fit.n - fit.df_residual + 1;
  if (fit.n - k - 1 <= 0 || rss <= 0) return;
  const double log_weights = fit.weights.size() > 0 ? fit.weights.array().log().sum() : 0;
  fit.aicc = fit.n * std::log(2 * std::numbers::pi * rss / fit.n) + fit.n - log_weights + 2 * k +
             2 * k * (k + 1) / (fit.n - k - 1);
}

void add_press(Fit& fit, const Eigen::VectorXd& roots, double varying, const Eigen::VectorXd& z) {
  if (fit.leverage.maxCoeff() > kFullLeverage) return;
  const Eigen::ArrayXd left_out =
      fit.residuals.array() * roots.array() / (1 - fit.leverage.array());
  fit.press = without_rounding(left_out.square().sum(), z);
  if (varying > 0) fit.predicted_r2 = 1 - *fit.press / varying;
}

void add_adequate_precision(Fit& fit, const Eigen::VectorXd& roots) {
  if (*fit.sigma == 0) return;
  const double mean_variance = (fit.leverage.array() / roots.array().square()).mean();
  fit.adequate_precision =
      (fit.fitted.maxCoeff() - fit.fitted.minCoeff()) / (*fit.sigma * std::sqrt(mean_variance));
}

void add_studentised(Fit& fit, const Eigen::VectorXd& roots) {
  fit.studentised_residuals = Eigen::VectorXd::Zero(fit.n);
  if (!fit.sigma || *fit.sigma == 0) return;
  for (int i = 0; i < fit.n; ++i) {
    if (fit.leverage[i] > kFullLeverage) continue;
    fit.studentised_residuals[i] =
        roots[i] * fit.residuals[i] / (*fit.sigma * std::sqrt(1 - fit.leverage[i]));
  }
}

void add_test(const Fit& fit, double unscaled_variance, Coefficient& row) {
  if (fit.sigma) {
    row.std_error = *fit.sigma * std::sqrt(unscaled_variance);
    row.df = fit.df_residual;
  }
  if (!row.std_error || *row.std_error == 0) return;
  row.t = row.estimate / *row.std_error;
  row.p = t_p_value(*row.t, fit.df_residual);
}

}  // namespace

double without_rounding(double sum_of_squares, const Eigen::VectorXd& z) {
  constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();
  const double rounding = static_cast<double>(z.size()) * kRounding * kRounding * z.squaredNorm();
  return sum_of_squares > rounding ? sum_of_squares : 0;
}

void add_diagnostics(Fit& fit, const SumsOfSquares& sums, const Eigen::VectorXd& z) {
  const Eigen::VectorXd roots =
      fit.weights.size() > 0 ? fit.weights.cwiseSqrt().eval() : Eigen::VectorXd::Ones(fit.n);
  // The variation to explain: without the blocks, which no setting can change.
  const double varying = sums.model + sums.residual;
  fit.r2 = varying > 0 ? sums.model / varying : 0;
  if (sums.total == 0) {
    fit.notes.push_back(
        "all responses are equal: in these runs the response does not depend on the factors, or "
        "the measurement does not resolve it");
  }
  if (fit.loss == Loss::kSquares && fit.df_residual > 0) {
    fit.sigma = std::sqrt(sums.residual / fit.df_residual);
    const int df = sums.df_model + sums.df_residual;
    if (varying > 0) fit.adjusted_r2 = 1 - sums.residual / fit.df_residual / (varying / df);
    add_aicc(fit, sums.residual);
    add_adequate_precision(fit, roots);
    add_press(fit, roots, varying, z.cwiseProduct(roots));
  }
  add_studentised(fit, roots);
}

void add_tables(Fit& fit, const Solution& solution,
                const std::vector<std::optional<double>>& inflation) {
  for (int c = 0; c < fit.model.column_count(); ++c) {
    Coefficient row{fit.model.columns()[c].name, fit.beta[c]};
    row.vif = inflation[static_cast<std::size_t>(c)];
    add_test(fit, fit.unscaled_covariance(c, c), row);
    fit.coefficients.push_back(std::move(row));
  }
  Eigen::Index column = fit.model.column_count();
  for (std::string& name : block_names(fit.blocks)) {
    Coefficient row{std::move(name), solution.b[column]};
    add_test(fit, solution.covariance(column, column), row);
    fit.block_effects.push_back(std::move(row));
    ++column;
  }
  for (std::size_t i = 0; i < solution.natural_terms.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    NaturalCoefficient natural{solution.natural_terms[i], solution.natural[row], {}};
    if (fit.sigma) natural.std_error = *fit.sigma * solution.natural_roots[row];
    fit.natural_coefficients.push_back(std::move(natural));
  }
}

}  // namespace doetune::surfaces
