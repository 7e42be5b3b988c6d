// The fit of runs in whole plots, derived from the ordinary fit of the same runs.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/least_squares/natural_coefficients.h"
#include "surfaces/least_squares/whole_plots.h"

namespace doetune::surfaces {
namespace {

/// Both variances need degrees of freedom: between whole plots and within them.
void check_freedom(const Eigen::MatrixXd& x, const WholePlots& plots) {
  Eigen::MatrixXd with_plots(x.rows(), x.cols() + plots.count());
  with_plots << x, plots.membership();
  const Eigen::Index rank = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(with_plots).rank();
  if (rank == x.cols()) {
    throw FitError(fmt::format(
        "the error of whole plots cannot be estimated: the model and blocks distinguish all {} "
        "whole plots; run more whole plots, or leave out terms of the hard-to-change factors",
        plots.count()));
  }
  if (rank == x.rows()) {
    throw FitError(
        "the error within whole plots cannot be estimated: the model and the whole plots leave no "
        "degrees of freedom; make more runs in each whole plot, or leave out terms");
  }
}

double ratio_of(const WholePlots& plots, const Eigen::MatrixXd& x, const Eigen::VectorXd& z) {
  const double d = plots.likeliest_ratio(x, z, Likelihood::kRestricted);
  if (std::isfinite(d)) return d;
  throw FitError(
      "the error within whole plots cannot be estimated: the runs of each agree exactly with the "
      "model");
}

/// By the full likelihood: restricted likelihoods are not comparable between models.
std::optional<double> aicc_of(const WholePlots& plots, const Eigen::MatrixXd& x,
                              const Eigen::VectorXd& z) {
  const auto n = static_cast<double>(x.rows());
  const auto k = static_cast<double>(x.cols()) + 2;
  if (n - k - 1 <= 0) return std::nullopt;
  const double d = plots.likeliest_ratio(x, z, Likelihood::kFull);
  if (!std::isfinite(d)) return std::nullopt;
  return plots.deviance(x, z, d, Likelihood::kFull).value + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

/// Clears the statistics that assume a single error.
void clear(Fit& fit) {
  fit.adjusted_r2 = fit.press = fit.predicted_r2 = fit.aicc = fit.adequate_precision = std::nullopt;
  fit.anova.clear();
  fit.lack_of_fit = {};
  fit.lack_of_fit_problem = "not tested with whole plots";
}

/// Sequential tests of the model's parts. With X = QR a part corresponds to its rows of R b.
std::vector<PartTest> part_tests(const Fit& fit, const Eigen::MatrixXd& x, const Eigen::VectorXd& b,
                                 const KenwardRoger& errors) {
  const std::vector<ModelPart> parts = model_parts(fit.model, fit.blocks);
  std::vector<int> order;
  for (const ModelPart& part : parts) {
    order.insert(order.end(), part.columns.begin(), part.columns.end());
  }
  const Eigen::Index p = x.cols();
  const Eigen::MatrixXd in_order = x(Eigen::all, order);
  const Eigen::MatrixXd r = Eigen::HouseholderQR<Eigen::MatrixXd>(in_order)
                                .matrixQR()
                                .topRows(p)
                                .triangularView<Eigen::Upper>();
  Eigen::MatrixXd contrasts(p, p);
  contrasts(Eigen::all, order) = r;

  std::vector<PartTest> tests;
  const auto add = [&](const std::string& source, Eigen::Index first, Eigen::Index df) {
    if (df == 0) return;
    PartTest test = errors.test(contrasts.middleRows(first, df), b, fit.split_plot->run_variance);
    test.source = source;
    tests.push_back(std::move(test));
  };
  Eigen::Index before = 0;
  bool model = false;
  for (const ModelPart& part : parts) {
    const Eigen::Index df = part.df();
    if (before > 0 && part.name != kBlocks && !model) {
      add("model", before, p - before);
      model = true;
    }
    if (before > 0) add(part.name, before, df);
    before += df;
  }
  return tests;
}

void set_coefficients(Fit& fit, const Eigen::VectorXd& b, const KenwardRoger& errors) {
  const Eigen::VectorXd variances =
      fit.split_plot->run_variance * errors.adjusted_covariance().diagonal();
  const auto set = [&](Coefficient& row, Eigen::Index c) {
    row.estimate = b[c];
    row.std_error = std::sqrt(variances[c]);
    row.df = errors.df(Eigen::RowVectorXd::Unit(b.size(), c));
    row.t = row.p = {};
    if (*row.std_error == 0) return;
    row.t = row.estimate / *row.std_error;
    row.p = t_p_value(*row.t, *row.df);
  };
  Eigen::Index c = 0;
  for (Coefficient& row : fit.coefficients) set(row, c++);
  for (Coefficient& row : fit.block_effects) set(row, c++);
}

void set_natural_coefficients(Fit& fit) {
  const auto terms = natural_terms<long double>(fit.model);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    long double estimate = 0;
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(fit.beta.size());
    for (const auto& [column, weight] : terms[i].second) {
      estimate += weight * fit.beta[column];
      row[column] = static_cast<double>(weight);
    }
    const double variance = (row * fit.unscaled_covariance).dot(row);
    fit.natural_coefficients[i].estimate = static_cast<double>(estimate);
    fit.natural_coefficients[i].std_error = *fit.sigma * std::sqrt(std::max(0.0, variance));
  }
}

SplitPlot split_plot_of(const WholePlots& plots, const KenwardRoger& errors, double run_variance) {
  SplitPlot plot;
  plot.whole_plots = plots.count();
  plot.run_variance = run_variance;
  plot.whole_plot_variance = errors.ratio * run_variance;
  plot.whole_plot_std_error = run_variance * std::sqrt(errors.of_variances(0, 0));
  plot.run_std_error = run_variance * std::sqrt(errors.of_variances(1, 1));
  if (errors.ratio == 0) {
    plot.note =
        "the variance of whole plots is estimated to be 0: they differ no more than the runs "
        "within them, or there are too few of them";
  }
  return plot;
}

/// Run diagnostics: leverages, and residuals divided by their own standard deviation. covariance =
/// root root'.
void set_diagnostics(Fit& fit, const Eigen::MatrixXd& x, const Eigen::MatrixXd& root,
                     const Eigen::MatrixXd& weights) {
  fit.leverage = (x.array() * weights.transpose().array()).rowwise().sum();
  const SplitPlot& plot = *fit.split_plot;
  const Eigen::ArrayXd variances =
      plot.run_variance * (1 + plot.errors.ratio - (x * root).rowwise().squaredNorm().array());
  for (int i = 0; i < fit.n; ++i) {
    const bool varies = variances[i] > 1e-10 * (*fit.sigma) * (*fit.sigma);
    fit.studentised_residuals[i] = varies ? fit.residuals[i] / std::sqrt(variances[i]) : 0;
  }
}

}  // namespace

void use_whole_plots(Fit& fit, const Eigen::VectorXd& z, const std::vector<int>& numbers) {
  const WholePlots plots(numbers);
  const Eigen::MatrixXd x =
      columns_of({fit.model, fit.coded, Eigen::MatrixXd(), Eigen::VectorXd(), fit.blocks});
  const Eigen::Index p = x.cols(), columns = fit.model.column_count();
  check_freedom(x, plots);
  const bool exact = without_rounding(fit.residuals.squaredNorm(), z) == 0;
  const double d = exact ? 0 : ratio_of(plots, x, z);

  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(plots.whitened(x, d));
  const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(x.rows(), p);
  const Eigen::MatrixXd root = qr.matrixQR().topRows(p).triangularView<Eigen::Upper>().solve(
      Eigen::MatrixXd::Identity(p, p));
  const Eigen::VectorXd white = plots.whitened(z, d);
  const Eigen::VectorXd b = root * (q.transpose() * white);
  const double rss = exact ? 0 : (white - q * (q.transpose() * white)).squaredNorm();
  const double run_variance = rss / static_cast<double>(x.rows() - p);
  const KenwardRoger errors = kenward_roger(plots, d, q, root);
  const Eigen::MatrixXd weights = root * plots.whitened(q, d).transpose();

  clear(fit);
  fit.split_plot = split_plot_of(plots, errors, run_variance);
  fit.split_plot->errors = errors.of_first(columns);
  fit.split_plot->run_errors = std::sqrt(run_variance) * (root * q.transpose()).topRows(columns);
  fit.sigma = std::sqrt(run_variance * (1 + d));
  fit.beta = b.head(columns);
  fit.fitted = x * b;
  fit.residuals = z - fit.fitted;
  const double total = about_block_means(fit.blocks, z).squaredNorm();
  if (!exact) fit.r2 = 1 - fit.residuals.squaredNorm() / total;
  fit.unscaled_covariance = fit.split_plot->errors.adjusted_covariance() / (1 + d);
  fit.weights_of_runs = weights.topRows(columns);
  set_diagnostics(fit, x, root, weights);
  set_coefficients(fit, b, errors);
  set_natural_coefficients(fit);
  fit.stationary_point = stationary_point(fit);
  if (exact) return;
  fit.aicc = aicc_of(plots, x, z);
  fit.split_plot->tests = part_tests(fit, x, b, errors);
}

}  // namespace doetune::surfaces
