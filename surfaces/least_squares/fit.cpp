#include "surfaces/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/least_squares/least_squares_fits.h"
#include "surfaces/least_squares/robust.h"

namespace doetune::surfaces {
namespace {

void check_options(const FitOptions& options, const Eigen::MatrixXd& coded) {
  const Eigen::Index n = coded.rows();
  const auto blocks = static_cast<Eigen::Index>(options.blocks.size());
  if (blocks > 0 && blocks != n) {
    throw FitError(fmt::format("{} block numbers for {} runs", blocks, n));
  }
  const auto whole_plots = static_cast<Eigen::Index>(options.whole_plots.size());
  if (whole_plots > 0 && whole_plots != n) {
    throw FitError(fmt::format("{} whole-plot numbers for {} runs", whole_plots, n));
  }
  if (whole_plots > 0 &&
      (options.loss != Loss::kSquares || options.variance || options.weights.size() > 0)) {
    throw FitError(
        "runs in whole plots are fitted by least squares with equal weights: leave out the loss "
        "and the variance model");
  }
  const Eigen::Index weights = options.weights.size();
  if (weights > 0 && weights != n) {
    throw FitError(fmt::format("{} weights for {} runs", weights, n));
  }
  for (const double weight : options.weights) {
    if (weight > 0 && std::isfinite(weight)) continue;
    throw FitError(
        fmt::format("a weight is {}: weights must be finite and above 0; leave out the runs that "
                    "should not count",
                    weight));
  }
  const Eigen::MatrixXd& settings = options.settings;
  if (settings.size() > 0 && (settings.rows() != coded.rows() || settings.cols() != coded.cols())) {
    throw FitError(fmt::format("{} x {} settings for {} x {} coded points", settings.rows(),
                               settings.cols(), coded.rows(), coded.cols()));
  }
}

/// The weights of the runs divided by their modelled variance; empty: all 1.
Eigen::VectorXd weights_of(const FitOptions& options, const Eigen::MatrixXd& coded) {
  Eigen::VectorXd weights = options.weights;
  if (!options.variance) return weights;
  if (weights.size() == 0) weights = Eigen::VectorXd::Ones(coded.rows());
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    weights[i] /= options.variance->variance(coded.row(i).transpose());
  }
  return weights;
}

/// b with the runs weighted by the robust loss; its standard errors use all runs.
Solution robust_solution(const LeastSquaresProblem& problem, const Eigen::VectorXd& z,
                         const Solution& solution, const Eigen::VectorXd& weights, Fit& fit) {
  const Eigen::VectorXd roots = weights.cwiseSqrt();
  const RobustErrors errors =
      robust_errors(roots.asDiagonal() * columns_of(problem), z.cwiseProduct(roots), fit.loss);
  const Eigen::VectorXd counting = weights.cwiseProduct(errors.counts);
  const LeastSquaresProblem reweighted{problem.model, problem.coded, problem.settings, counting,
                                       problem.blocks};
  const auto solver = least_squares_solver(reweighted);
  if (!solver) throw FitError(why_undetermined(reweighted));
  Solution robust = solver->solve(z);
  const double ratio = errors.coefficient_scale / errors.scale;
  robust.covariance = ratio * ratio * solution.covariance;
  robust.weights_of_runs = ratio * solution.weights_of_runs;
  robust.natural_roots = ratio * solution.natural_roots;
  robust.leverage = solution.leverage;
  fit.counts = errors.counts;
  fit.sigma = errors.scale;
  return robust;
}

void take(const Solution& solution, Fit& fit) {
  const Eigen::Index own = fit.model.column_count();
  fit.df_residual = fit.n - static_cast<int>(solution.b.size());
  fit.beta = solution.b.head(own);
  fit.unscaled_covariance = solution.covariance.topLeftCorner(own, own);
  fit.weights_of_runs = solution.weights_of_runs.topRows(own);
  fit.fitted = solution.fitted;
  fit.residuals = solution.residuals;
  fit.leverage = solution.leverage;
}

/// The fourth powers of the responses must be representable.
void check_size(const Eigen::VectorXd& z) {
  constexpr double kLargest = 1e75, kSmallest = 1e-75;
  const double size = z.size() > 0 ? z.cwiseAbs().maxCoeff() : 0;
  if (size == 0 || (size > kSmallest && size < kLargest)) return;
  throw FitError(
      fmt::format("the responses reach {:.2g}, which is out of the numerical range: correct them, "
                  "or use another unit",
                  size));
}

}  // namespace

Eigen::VectorXd transformed_responses(const Eigen::VectorXd& y, Transform transform) {
  Eigen::VectorXd z(y.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) {
      throw FitError(fmt::format(
          "the response of run {} of {} is {}, not a finite number: leave the run out or repeat it",
          i + 1, y.size(), y[i]));
    }
    try {
      z[i] = transformed(transform, y[i]);
    } catch (const std::domain_error& error) {
      throw FitError(error.what());
    }
  }
  return z;
}

LeastSquaresFits::LeastSquaresFits(const doe::Model& model, const Eigen::MatrixXd& coded,
                                   const FitOptions& options)
    : model_(model), coded_(coded), options_(options) {
  check_options(options, coded);
  weights_ = weights_of(options, coded);
  const LeastSquaresProblem problem{model_, coded_, options_.settings, weights_, options_.blocks};
  solver_ = least_squares_solver(problem);
  if (solver_) inflation_ = variance_inflation(problem, solver_->covariance());
}

Fit LeastSquaresFits::fit(const Eigen::VectorXd& y, Transform transform) const {
  const Eigen::VectorXd z = transformed_responses(y, transform);
  check_size(z);
  const LeastSquaresProblem problem{model_, coded_, options_.settings, weights_, options_.blocks};
  if (!solver_) throw FitError(why_undetermined(problem));
  Fit fit;
  fit.model = model_;
  fit.transform = transform;
  fit.n = static_cast<int>(y.size());
  fit.coded = coded_;
  fit.blocks = options_.blocks;
  fit.weights = weights_;
  fit.variance = options_.variance;
  fit.loss = options_.loss;
  fit.observed = y;

  Eigen::VectorXd weights = weights_.size() > 0 ? weights_ : Eigen::VectorXd::Ones(fit.n);
  const bool robust = fit.loss != Loss::kSquares;
  Solution solution = solver_->solve(z);
  if (robust) solution = robust_solution(problem, z, solution, weights, fit);
  take(solution, fit);
  if (robust) weights = weights.cwiseProduct(fit.counts);
  const SumsOfSquares sums = sums_of_squares(fit, solution, z, weights);
  add_diagnostics(fit, sums, z);
  add_tables(fit, solution, inflation_);
  fit.lack_of_fit_problem = robust ? "not tested with a robust loss" : lack_of_fit_problem(sums);
  if (!robust) {
    fit.anova = analysis_of_variance(sums);
    fit.lack_of_fit = lack_of_fit(sums);
  }
  fit.stationary_point = stationary_point(fit);
  if (!options_.whole_plots.empty()) use_whole_plots(fit, z, options_.whole_plots);
  return fit;
}

Fit fit_least_squares(const doe::Model& model, const Eigen::MatrixXd& coded,
                      const Eigen::VectorXd& y, const FitOptions& options) {
  return LeastSquaresFits(model, coded, options).fit(y, options.transform);
}

bool Fit::has_intercept() const {
  const std::vector<doe::ModelColumn>& columns = model.columns();
  return std::any_of(columns.begin(), columns.end(),
                     [](const doe::ModelColumn& column) { return column.name == "1"; });
}

Prediction Fit::predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const Eigen::RowVectorXd row = model.row(coded_point);
  const double variance_factor = (row * unscaled_covariance).dot(row);
  const double s = sigma.value_or(0);
  const double here = variance ? std::sqrt(variance->variance(coded_point)) : 1;
  Prediction prediction{row.dot(beta), s * std::sqrt(std::max(0.0, variance_factor)), s * here,
                        sigma ? static_cast<double>(df_residual) : 0, transform};
  if (split_plot) {
    prediction.df = split_plot->errors.df(row);
    prediction.next_run_df = split_plot->errors.next_run_df(row);
  }
  return prediction;
}

MeanErrors Fit::mean_errors(const Eigen::MatrixXd& points) const {
  const Eigen::MatrixXd x = model.matrix(points);
  if (split_plot) {
    return {x * split_plot->run_errors,
            std::sqrt(split_plot->run_variance) * x * split_plot->errors.adjustment_root};
  }
  Eigen::MatrixXd of_runs = sigma.value_or(0) * x * weights_of_runs;
  if (weights.size() > 0) of_runs *= weights.cwiseSqrt().cwiseInverse().asDiagonal();
  return {std::move(of_runs), Eigen::MatrixXd(points.rows(), 0)};
}

double Fit::response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  return back_transformed(transform, model.row(coded_point).dot(beta));
}

}  // namespace doetune::surfaces
