#include "surfaces/models/gaussian_process.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.h"
#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/models/kriging.h"
#include "surfaces/models/kriging_parameters.h"

namespace doetune::surfaces {
namespace {

GroupedRuns grouped(const doe::Model& model, const Eigen::MatrixXd& coded,
                    const Eigen::VectorXd& z) {
  GroupedRuns runs;
  runs.factors = model.factors();
  runs.n = static_cast<int>(z.size());
  std::map<std::vector<double>, int> numbers;
  std::vector<int> first_runs;
  for (int i = 0; i < runs.n; ++i) {
    const Eigen::RowVectorXd point = coded.row(i);
    const auto [known, is_new] =
        numbers.try_emplace({point.begin(), point.end()}, static_cast<int>(first_runs.size()));
    if (is_new) first_runs.push_back(i);
    runs.point_of_run.push_back(known->second);
  }
  runs.points = coded(first_runs, Eigen::all);
  runs.mean_terms = model.matrix(runs.points);
  runs.runs_at = Eigen::VectorXi::Zero(runs.points_count());
  runs.responses = Eigen::VectorXd::Zero(runs.points_count());
  for (int i = 0; i < runs.n; ++i) {
    ++runs.runs_at[runs.point_of_run[i]];
    runs.responses[runs.point_of_run[i]] += z[i];
  }
  runs.responses.array() /= runs.runs_at.cast<double>().array();
  runs.pure_error = without_rounding((z - runs.responses(runs.point_of_run)).squaredNorm(), z);
  return runs;
}

void check(const GroupedRuns& runs, const Eigen::VectorXd& z) {
  if (runs.mean_terms.cols() == 0) throw FitError("the mean of a Gaussian process needs a term");
  if (runs.df() < 2) {
    throw FitError(
        fmt::format("{} runs cannot determine a Gaussian process with {} mean terms: it "
                    "needs {}",
                    runs.n, runs.mean_terms.cols(), runs.mean_terms.cols() + 2));
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> mean(
      runs.mean_terms(runs.point_of_run, Eigen::all));
  if (mean.rank() < mean.cols()) {
    throw FitError("the runs do not determine the mean of the Gaussian process");
  }
  const Eigen::VectorXd residuals =
      z - runs.mean_terms(runs.point_of_run, Eigen::all) * mean.solve(z);
  if (without_rounding(residuals.squaredNorm(), z) == 0) {
    throw FitError(
        "the response does not vary beyond its mean function: a Gaussian process has nothing to "
        "model; fit a polynomial");
  }
}

/// The inverse of named_parameters.
Eigen::VectorXd log_parameters(const GaussianProcessParameters& parameters,
                               const std::vector<doe::Factor>& factors) {
  const auto k = static_cast<Eigen::Index>(factors.size());
  if (parameters.correlations.size() != factors.size()) {
    throw FitError(fmt::format("{} correlation parameters for {} factors",
                               parameters.correlations.size(), factors.size()));
  }
  const bool with_nugget = parameters.nugget > 0;
  Eigen::VectorXd logs(k + (with_nugget ? 2 : 1));
  for (Eigen::Index f = 0; f < k; ++f) {
    const double value = parameters.correlations[f];
    logs[f] = factors[f].is_categorical() ? std::log(-std::log(value)) : std::log(value);
    if (!std::isfinite(logs[f])) {
      throw FitError(fmt::format("a correlation parameter of {} is out of range for factor {}",
                                 value, factors[f].name));
    }
  }
  if (!(parameters.noise_ratio > 0 &&
        parameters.noise_ratio + parameters.nugget > kMinNoiseRatio)) {
    throw FitError(
        fmt::format("the noise ratio of a Gaussian process must be above {}", kMinNoiseRatio));
  }
  if (with_nugget) logs[k] = std::log(parameters.nugget / parameters.noise_ratio);
  logs.tail(1)[0] = std::log(parameters.noise_ratio + parameters.nugget - kMinNoiseRatio);
  return logs;
}

GaussianProcessParameters named_parameters(const Eigen::VectorXd& logs, const Kriging& kriging,
                                           const std::vector<doe::Factor>& factors) {
  GaussianProcessParameters parameters;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const double value = std::exp(logs[f]);
    parameters.correlations.push_back(factors[f].is_categorical() ? std::exp(-value) : value);
  }
  parameters.noise_ratio = kriging.noise_ratio;
  parameters.nugget = kriging.nugget;
  return parameters;
}

/// With V = U R U' + g I for all runs, U the incidence of runs and points and N = U'U: the
/// projection for all runs is (I - U N^-1 U') / g + U N^-1 P N^-1 U', and a residual is its product
/// with z over its diagonal.
void leave_one_out(GaussianProcess& fit, const GroupedRuns& runs, const Kriging& kriging,
                   const Eigen::VectorXd& z) {
  const Eigen::VectorXd diagonal = projection(kriging).diagonal();
  fit.loo_residuals.resize(fit.n);
  fit.standardised_loo_residuals.resize(fit.n);
  for (int i = 0; i < fit.n; ++i) {
    const int j = runs.point_of_run[i];
    const double count = runs.runs_at[j];
    const double product =
        (z[i] - runs.responses[j]) / kriging.noise_ratio + kriging.weights[j] / count;
    const double precision = (1 - 1 / count) / kriging.noise_ratio + diagonal[j] / (count * count);
    fit.loo_residuals[i] = product / precision;
    fit.standardised_loo_residuals[i] = product / std::sqrt(precision * kriging.variance);
  }
  fit.press = fit.loo_residuals.squaredNorm();
  const double total = without_rounding((z.array() - z.mean()).square().sum(), z);
  if (total > 0) fit.predicted_r2 = 1 - *fit.press / total;
}

/// All but the leave-one-out residuals.
GaussianProcess process_of(const doe::Model& model, Transform transform, const GroupedRuns& runs,
                           const Eigen::VectorXd& logs, const Kriging& kriging) {
  GaussianProcess fit;
  fit.model = model;
  fit.transform = transform;
  fit.n = runs.n;
  fit.parameters = named_parameters(logs, kriging, model.factors());
  fit.process_sigma = std::sqrt(kriging.variance);
  fit.sigma = fit.process_sigma * std::sqrt(kriging.noise_ratio);
  fit.df = runs.df();
  fit.log_likelihood = kriging.log_likelihood;
  fit.correlation =
      Correlation(model.factors(), logs.head(static_cast<Eigen::Index>(model.factors().size())),
                  kriging.nugget);
  fit.beta = kriging.beta;
  fit.points = runs.points;
  fit.runs_at = runs.runs_at;
  fit.point_of_run = runs.point_of_run;
  fit.weights = kriging.weights;
  fit.root = kriging.root;
  fit.whitened_mean = kriging.whitened_mean;
  fit.mean_root = kriging.mean_root;
  return fit;
}

/// The logarithm of the integral of the likelihood over the process variance, whose prior is its
/// reciprocal, less that of the maximum.
double log_integral_over_variance(int df) {
  const double half = df / 2.0;
  return std::lgamma(half) + half - half * std::log(half);
}

}  // namespace

GaussianProcess fit_gaussian_process(const doe::Model& model, const Eigen::MatrixXd& coded,
                                     const Eigen::VectorXd& y,
                                     const GaussianProcessOptions& options) {
  const Eigen::VectorXd z = transformed_responses(y, options.transform);
  const GroupedRuns runs = grouped(model, coded, z);
  check(runs, z);
  const Eigen::VectorXd logs =
      options.parameters ? log_parameters(*options.parameters, model.factors())
                         : estimated_parameters(runs, options.with_nugget, options.threads);
  const std::optional<Kriging> kriging = solve_kriging(runs, logs);
  if (!kriging) {
    throw FitError(
        "the Gaussian process with these parameters cannot be computed: its points are too "
        "similar; raise the noise ratio");
  }
  GaussianProcess fit = process_of(model, options.transform, runs, logs, *kriging);
  leave_one_out(fit, runs, *kriging, z);
  fit.coded = coded;
  fit.observed = y;
  return fit;
}

std::vector<GaussianProcess> drawn_processes(const GaussianProcess& fit, int count, int threads,
                                             double* log_marginal_likelihood) {
  const GroupedRuns runs =
      grouped(fit.model, fit.coded, transformed_responses(fit.observed, fit.transform));
  const DrawnParameters parameters =
      drawn_parameters(runs, log_parameters(fit.parameters, fit.model.factors()), count, threads);
  if (log_marginal_likelihood != nullptr) {
    *log_marginal_likelihood = parameters.log_likelihood + log_integral_over_variance(fit.df);
  }
  std::vector<GaussianProcess> processes(parameters.drawn.size());
  parallel_for(count, threads, [&](int i) {
    const Eigen::VectorXd& drawn = parameters.drawn[static_cast<std::size_t>(i)];
    const std::optional<Kriging> kriging = solve_kriging(runs, drawn);
    processes[i] = process_of(fit.model, fit.transform, runs, drawn, *kriging);
  });
  return processes;
}

GaussianProcess GaussianProcess::smooth() const {
  GaussianProcess shared = *this;
  shared.correlation = correlation.smooth();
  shared.parameters.nugget = 0;
  return shared;
}

double GaussianProcess::loo_coverage(double level) const {
  return (standardised_loo_residuals.array().abs() <= t_quantile(level, df)).cast<double>().mean();
}

Prediction GaussianProcess::predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const Eigen::VectorXd r = correlation.with(points, coded_point);
  const Eigen::VectorXd f = model.row(coded_point);
  const Eigen::VectorXd whitened = root.matrixL().solve(r);
  const Eigen::VectorXd mean_gap =
      mean_root.matrixL().solve(f - whitened_mean.transpose() * whitened);
  const double variance = 1 + parameters.nugget - whitened.squaredNorm() + mean_gap.squaredNorm();
  return {f.dot(beta) + r.dot(weights), process_sigma * std::sqrt(std::max(0.0, variance)), sigma,
          static_cast<double>(df), transform};
}

double GaussianProcess::response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const double mean = model.row(coded_point).dot(beta) +
                      correlation.with(points, coded_point).matrix().dot(weights);
  return back_transformed(transform, mean);
}

MeanErrors GaussianProcess::mean_errors(const Eigen::MatrixXd& coded_points) const {
  const Eigen::MatrixXd r = correlation.matrix(points, coded_points);  // m x p
  const Eigen::MatrixXd gap =
      model.matrix(coded_points).transpose() - whitened_mean.transpose() * root.matrixL().solve(r);
  // A mean is w' responses, unbiased: w' F = f'.
  const Eigen::MatrixXd w =
      root.matrixU().solve(root.matrixL().solve(r) + whitened_mean * mean_root.solve(gap));
  MeanErrors errors;
  errors.of_runs.resize(coded_points.rows(), n);
  for (int i = 0; i < n; ++i) {
    const int j = point_of_run[i];
    errors.of_runs.col(i) = sigma / runs_at[j] * w.row(j).transpose();
  }
  const Eigen::MatrixXd cross = w.transpose() * r;
  Eigen::MatrixXd of_points = root.reconstructedMatrix();
  of_points.diagonal().array() -= parameters.noise_ratio / runs_at.cast<double>().array();
  const Eigen::MatrixXd rest =
      w.transpose() * of_points * w - cross - cross.transpose() + correlation.matrix(coded_points);
  errors.own = process_sigma * covariance_root(rest);
  return errors;
}

}  // namespace doetune::surfaces
