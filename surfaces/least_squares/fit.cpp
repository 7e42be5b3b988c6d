#include "surfaces/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <set>

#include "doe/evaluation.h"
#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

Eigen::VectorXd transformed_responses(const Eigen::VectorXd& y, Transform transform) {
  Eigen::VectorXd z(y.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) throw FitError("a response is not a finite number");
    try {
      z[i] = transformed(transform, y[i]);
    } catch (const std::domain_error& error) {
      throw FitError(error.what());
    }
  }
  return z;
}

/// Columns other than the intercept with their means taken off.
struct CentredMatrix {
  Eigen::MatrixXd x;
  Eigen::RowVectorXd means;
  int intercept = 0;
};

int intercept_of(const doe::Model& model) {
  for (int c = 0; c < model.column_count(); ++c) {
    if (model.columns()[c].name == "1") return c;
  }
  // R2, the analysis of variance and centring are all about the mean.
  throw FitError("the model needs the term 1");
}

CentredMatrix centred(const doe::Model& model, Eigen::MatrixXd x) {
  const Eigen::Index columns = x.cols();
  CentredMatrix result{std::move(x), Eigen::RowVectorXd::Zero(columns), intercept_of(model)};
  for (Eigen::Index c = 0; c < result.x.cols(); ++c) {
    if (c == result.intercept) continue;
    result.means[c] = result.x.col(c).mean();
    result.x.col(c).array() -= result.means[c];
  }
  return result;
}

using Decomposition = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;

/// b of the uncentred model from that of the centred one.
Eigen::VectorXd uncentred(const CentredMatrix& centred, Eigen::VectorXd b) {
  b[centred.intercept] -= centred.means * b;
  return b;
}

/// M P R^-1 with b = M b_centred, M taking the centring back: times its transpose it is (X'X)^-1 of
/// the uncentred model, times Q' the weights of the runs in b.
Eigen::MatrixXd covariance_root(const CentredMatrix& centred, const Decomposition& qr) {
  const Eigen::Index p = centred.x.cols();
  const Eigen::MatrixXd r_inverse =
      qr.matrixR().topLeftCorner(p, p).triangularView<Eigen::Upper>().solve(
          Eigen::MatrixXd::Identity(p, p));
  Eigen::MatrixXd root = qr.colsPermutation() * r_inverse;
  root.row(centred.intercept) -= centred.means * root;
  return root;
}

void check_rank(const doe::Model& model, const Eigen::MatrixXd& coded, const Decomposition& qr) {
  if (qr.rank() == qr.cols()) return;
  const std::vector<std::string> aliases = doe::evaluate(model, coded).aliases;
  if (aliases.empty()) throw FitError("the blocks are confounded with terms of the model");
  throw FitError(fmt::format("the runs do not determine the model: {} {} aliased with other terms",
                             fmt::join(aliases, ", "), aliases.size() == 1 ? "is" : "are"));
}

void summarise(Fit& fit, const Eigen::VectorXd& z, int p) {
  const double rss = without_rounding(fit.residuals.squaredNorm(), z);
  // What the model is to explain: blocks explain nothing that a setting could change.
  const double total = without_rounding(about_block_means(fit.blocks, z).squaredNorm(), z);
  const int total_df = fit.n - block_count(fit.blocks);
  const bool varies = total > 0;
  fit.df_residual = fit.n - p;
  fit.r2 = varies ? 1 - rss / total : 0;
  if (fit.df_residual == 0) return;
  fit.sigma = std::sqrt(rss / fit.df_residual);
  if (varies) fit.adjusted_r2 = 1 - (rss / fit.df_residual) / (total / total_df);
  const double k = p + 1;
  if (fit.n - k - 1 > 0 && rss > 0) {
    fit.aicc = fit.n * std::log(2 * std::numbers::pi * rss / fit.n) + fit.n + 2 * k +
               2 * k * (k + 1) / (fit.n - k - 1);
  }
  if (*fit.sigma > 0) {
    fit.adequate_precision = (fit.fitted.maxCoeff() - fit.fitted.minCoeff()) /
                             (*fit.sigma * std::sqrt(static_cast<double>(p) / fit.n));
  }
  if (fit.leverage.maxCoeff() > 1 - 1e-10) return;
  fit.press =
      without_rounding((fit.residuals.array() / (1 - fit.leverage.array())).square().sum(), z);
  if (varies) fit.predicted_r2 = 1 - *fit.press / total;
}

Eigen::VectorXd studentised(const Fit& fit) {
  Eigen::VectorXd r = Eigen::VectorXd::Zero(fit.n);
  if (!fit.sigma || *fit.sigma == 0) return r;
  for (int i = 0; i < fit.n; ++i) {
    if (fit.leverage[i] < 1 - 1e-10) {
      r[i] = fit.residuals[i] / (*fit.sigma * std::sqrt(1 - fit.leverage[i]));
    }
  }
  return r;
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

/// One a block but the first: how far it lies above the average block.
std::vector<Coefficient> block_table(const Fit& fit, const Eigen::VectorXd& effects,
                                     const Eigen::VectorXd& unscaled_variances) {
  const std::set<int> numbers(fit.blocks.begin(), fit.blocks.end());
  std::vector<Coefficient> table;
  auto number = numbers.begin();
  for (Eigen::Index j = 0; j < effects.size(); ++j) {
    Coefficient row{fmt::format("block[{}]", *++number), effects[j], {}, {}, {}, {}, {}};
    add_test(fit, unscaled_variances[j], row);
    table.push_back(std::move(row));
  }
  return table;
}

std::vector<Coefficient> coefficient_table(const Fit& fit) {
  const std::vector<std::optional<double>> vif = variance_inflation(fit);
  std::vector<Coefficient> table;
  for (int c = 0; c < fit.model.column_count(); ++c) {
    Coefficient row{fit.model.columns()[c].name, fit.beta[c], {}, {}, {}, {}, {}};
    row.vif = vif[c];
    add_test(fit, fit.unscaled_covariance(c, c), row);
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Fit fit_least_squares(const doe::Model& model, const Eigen::MatrixXd& coded,
                      const Eigen::VectorXd& y, const FitOptions& options) {
  const std::vector<int>& blocks = options.blocks;
  if (!blocks.empty() && static_cast<Eigen::Index>(blocks.size()) != y.size()) {
    throw FitError(fmt::format("{} block numbers for {} runs", blocks.size(), y.size()));
  }
  if (!options.whole_plots.empty() &&
      static_cast<Eigen::Index>(options.whole_plots.size()) != y.size()) {
    throw FitError(
        fmt::format("{} whole-plot numbers for {} runs", options.whole_plots.size(), y.size()));
  }
  const int model_columns = model.column_count();
  const int p = model_columns + block_count(blocks) - 1;
  if (coded.rows() < p) {
    throw FitError(fmt::format("{} runs cannot determine {} model terms", coded.rows(), p));
  }
  const Eigen::VectorXd z = transformed_responses(y, options.transform);
  Eigen::MatrixXd x(coded.rows(), p);
  x.leftCols(model_columns) = model.matrix(coded);
  x.rightCols(p - model_columns) = block_contrasts(blocks, coded.rows());
  const CentredMatrix matrix = centred(model, x);
  const Decomposition qr(matrix.x);
  check_rank(model, coded, qr);

  Fit fit;
  fit.model = model;
  fit.transform = options.transform;
  fit.n = static_cast<int>(y.size());
  fit.coded = coded;
  fit.blocks = blocks;
  fit.observed = y;
  const Eigen::VectorXd centred_b = qr.solve(z);
  const Eigen::VectorXd b = uncentred(matrix, centred_b);
  fit.beta = b.head(model_columns);
  fit.fitted = matrix.x * centred_b;
  fit.residuals = z - fit.fitted;
  const Eigen::MatrixXd root = covariance_root(matrix, qr);
  const Eigen::MatrixXd covariance = root * root.transpose();
  fit.unscaled_covariance = covariance.topLeftCorner(model_columns, model_columns);
  const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(x.rows(), p);
  fit.weights_of_runs = (root * q.transpose()).topRows(model_columns);
  fit.leverage = q.rowwise().squaredNorm();
  summarise(fit, z, p);
  fit.studentised_residuals = studentised(fit);
  fit.coefficients = coefficient_table(fit);
  const Eigen::Index effects = p - model_columns;
  fit.block_effects = block_table(fit, b.tail(effects), covariance.diagonal().tail(effects));
  fit.natural_coefficients = natural_coefficients(fit);
  fit.anova = analysis_of_variance(fit, z);
  fit.lack_of_fit = lack_of_fit(fit, z);
  fit.lack_of_fit_problem = lack_of_fit_problem(fit, z);
  fit.stationary_point = stationary_point(fit);
  if (!options.whole_plots.empty()) use_whole_plots(fit, z, options.whole_plots);
  return fit;
}

Prediction Fit::predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const Eigen::RowVectorXd row = model.row(coded_point);
  const double variance_factor = (row * unscaled_covariance).dot(row);
  const double s = sigma.value_or(0);
  Prediction prediction{row.dot(beta), s * std::sqrt(std::max(0.0, variance_factor)), s,
                        sigma ? static_cast<double>(df_residual) : 0, transform};
  if (split_plot) {
    prediction.df = split_plot->errors.df(row);
    prediction.next_run_df = split_plot->errors.next_run_df(row);
  }
  return prediction;
}

MeanErrors Fit::mean_errors(const Eigen::MatrixXd& points) const {
  if (split_plot) {
    const Eigen::MatrixXd x = model.matrix(points);
    return {x * split_plot->run_errors,
            std::sqrt(split_plot->run_variance) * x * split_plot->errors.adjustment_root};
  }
  return {sigma.value_or(0) * model.matrix(points) * weights_of_runs,
          Eigen::MatrixXd(points.rows(), 0)};
}

double Fit::response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  return back_transformed(transform, model.row(coded_point).dot(beta));
}

}  // namespace doetune::surfaces
