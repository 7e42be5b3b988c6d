// A fit of runs in whole plots, made of the ordinary fit of the same runs.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/least_squares/whole_plots.h"

namespace doetune::surfaces {
namespace {

/// Both variances need freedom of their own: between whole plots and within them.
void check_freedom(const Eigen::MatrixXd& x, const WholePlots& plots) {
  Eigen::MatrixXd with_plots(x.rows(), x.cols() + plots.count());
  with_plots << x, plots.membership();
  const Eigen::Index rank = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(with_plots).rank();
  if (rank == x.cols()) {
    throw FitError(fmt::format(
        "the error of whole plots cannot be estimated: the model and blocks tell all {} whole "
        "plots apart; run more whole plots, or leave out terms of what is set once in each",
        plots.count()));
  }
  if (rank == x.rows()) {
    throw FitError(
        "the error within whole plots cannot be estimated: the model and the whole plots leave no "
        "freedom; run more in each whole plot, or leave out terms");
  }
}

double ratio_of(const WholePlots& plots, const Eigen::MatrixXd& x, const Eigen::VectorXd& z) {
  const double d = plots.likeliest_ratio(x, z, Likelihood::kRestricted);
  if (std::isfinite(d)) return d;
  throw FitError(
      "the error within whole plots cannot be estimated: the runs of each agree exactly with the "
      "model");
}

/// By the full likelihood: a restricted one says nothing about models of different terms.
std::optional<double> aicc_of(const WholePlots& plots, const Eigen::MatrixXd& x,
                              const Eigen::VectorXd& z) {
  const auto n = static_cast<double>(x.rows());
  const auto k = static_cast<double>(x.cols()) + 2;
  if (n - k - 1 <= 0) return std::nullopt;
  const double d = plots.likeliest_ratio(x, z, Likelihood::kFull);
  if (!std::isfinite(d)) return std::nullopt;
  return plots.deviance(x, z, d, Likelihood::kFull).value + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

/// What no one error describes.
void clear(Fit& fit) {
  fit.adjusted_r2 = fit.press = fit.predicted_r2 = fit.aicc = fit.adequate_precision = std::nullopt;
  fit.anova.clear();
  fit.lack_of_fit = {};
  fit.lack_of_fit_problem = "not tested with whole plots";
}

/// The sequential tests of the model's parts. With X = QR a part is what its rows of R b are.
std::vector<PartTest> part_tests(const Fit& fit, const Eigen::MatrixXd& x, const Eigen::VectorXd& b,
                                 const KenwardRoger& errors) {
  const std::vector<ModelPart> parts = model_parts(fit);
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
    const auto df = static_cast<Eigen::Index>(part.columns.size());
    if (before > 0 && part.name != kBlockPart && !model) {
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

SplitPlot split_plot_of(const WholePlots& plots, const KenwardRoger& errors, double run_variance) {
  SplitPlot plot;
  plot.whole_plots = plots.count();
  plot.run_variance = run_variance;
  plot.whole_plot_variance = errors.ratio * run_variance;
  plot.whole_plot_std_error = run_variance * std::sqrt(errors.of_variances(0, 0));
  plot.run_std_error = run_variance * std::sqrt(errors.of_variances(1, 1));
  if (errors.ratio == 0) {
    plot.note =
        "the variance of whole plots is estimated to be 0: they differ no more than runs within "
        "them do, or are too few to show it";
  }
  return plot;
}

/// What looks at single runs: their share in their own fitted value, and residuals over their own
/// standard deviation. `root` is as covariance = root root'.
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

/// Generalised least squares at the likeliest d.
struct Solution {
  double d = 0;
  Eigen::MatrixXd q, root;  ///< H^-1/2 X = QR, root = R^-1
  Eigen::VectorXd b;
  double run_variance = 0;
};

Solution solved(const WholePlots& plots, const Eigen::MatrixXd& x, const Eigen::VectorXd& z,
                bool exact) {
  Solution solution;
  if (!exact) solution.d = ratio_of(plots, x, z);
  const Eigen::Index p = x.cols();
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(plots.whitened(x, solution.d));
  solution.q = qr.householderQ() * Eigen::MatrixXd::Identity(x.rows(), p);
  solution.root = qr.matrixQR().topRows(p).triangularView<Eigen::Upper>().solve(
      Eigen::MatrixXd::Identity(p, p));
  const Eigen::VectorXd white = plots.whitened(z, solution.d);
  const Eigen::VectorXd along = solution.q.transpose() * white;
  solution.b = solution.root * along;
  const auto df = static_cast<double>(x.rows() - p);
  if (!exact) solution.run_variance = (white - solution.q * along).squaredNorm() / df;
  return solution;
}

}  // namespace

void use_whole_plots(Fit& fit, const Eigen::VectorXd& z, const std::vector<int>& numbers) {
  const WholePlots plots(numbers);
  const Eigen::MatrixXd x = full_matrix(fit);
  check_freedom(x, plots);
  const bool exact = without_rounding(fit.residuals.squaredNorm(), z) == 0;
  const auto [d, q, root, b, run_variance] = solved(plots, x, z, exact);
  const KenwardRoger errors = kenward_roger(plots, d, q, root);
  const Eigen::MatrixXd weights = root * plots.whitened(q, d).transpose();
  const Eigen::Index columns = fit.model.column_count();

  clear(fit);
  fit.split_plot = split_plot_of(plots, errors, run_variance);
  fit.split_plot->errors = errors.of_first(columns);
  fit.split_plot->run_errors = std::sqrt(run_variance) * (root * q.transpose()).topRows(columns);
  fit.sigma = std::sqrt(run_variance * (1 + d));
  fit.beta = b.head(columns);
  fit.fitted = x * b;
  fit.residuals = z - fit.fitted;
  fit.unscaled_covariance = fit.split_plot->errors.adjusted_covariance() / (1 + d);
  fit.weights_of_runs = weights.topRows(columns);
  set_diagnostics(fit, x, root, weights);
  set_coefficients(fit, b, errors);
  fit.natural_coefficients = natural_coefficients(fit);
  fit.stationary_point = stationary_point(fit);
  if (exact) return;
  fit.r2 = 1 - fit.residuals.squaredNorm() / about_block_means(fit.blocks, z).squaredNorm();
  fit.aicc = aicc_of(plots, x, z);
  fit.split_plot->tests = part_tests(fit, x, b, errors);
}

}  // namespace doetune::surfaces
